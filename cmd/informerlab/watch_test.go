package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/object"
)

// TestWatchJSON holds every kind of line against its schema and the story as a
// whole: first list, SYNCED, live events, STATUS.
func TestWatchJSON(t *testing.T) {
	fields := map[string][]string{
		"ADDED":  {"finalStateKnown", "initial", "key", "oldResourceVersion", "resourceVersion", "source", "time", "type", "uid"},
		"SYNCED": {"count", "resourceVersion", "time", "type"},
		"ANSWER": {"objects", "query", "time", "type", "value"},
		"STATUS": {"dropped", "lastError", "lists", "objects", "quarantined", "relists", "resourceVersion", "synced", "time", "type", "watches"},
	}
	fields["UPDATED"], fields["DELETED"] = fields["ADDED"], fields["ADDED"]

	for _, tt := range []struct {
		resource string
		args     string
		key      string // of an object that is there at the start
	}{
		{"pods", "--encoding json --by-ip 10.64.0.3", "team-03/" + apisim.RealisticPod(3).Name},
		{"pods", "--encoding protobuf --queue deltafifo --by-ip 10.64.0.3", "team-03/" + apisim.RealisticPod(3).Name},
		{"configmaps", "", "default/object-0003"},
		{"leases.v1.coordination.k8s.io", "--encoding json", "default/object-0003"},
		{"widgets", "--queue deltafifo", "default/object-0003"},
		{"widgets.v1.informerlab.example", "--encoding json", "default/object-0003"},
	} {
		t.Run(tt.resource+tt.args, func(t *testing.T) {
			dump := filepath.Join(t.TempDir(), "dump")
			var got outcome
			synctest.Test(t, func(t *testing.T) {
				args := append([]string{"watch", tt.resource, "-o", "json", "--objects", "10", "--rate", "10", "--for", "19950ms", "--dump", dump, "--get", tt.key}, strings.Fields(tt.args)...)
				got = execute(t.Context(), args...)
			})
			if got.code != exitDone || got.stderr != "" {
				t.Fatalf("exit %d, stderr %q", got.code, got.stderr)
			}
			cache := map[string]dumpedEntry{}
			count := map[string]int{}
			var last map[string]any
			for _, text := range lines(got.stdout) {
				var line map[string]any
				if err := json.Unmarshal([]byte(text), &line); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				kind := line["type"].(string)
				if diff := cmp.Diff(fields[kind], slices.Sorted(maps.Keys(line))); diff != "" {
					t.Fatalf("fields of %s (-want +got):\n%s", text, diff)
				}
				count[kind]++
				last = line
				switch kind {
				case "ADDED", "UPDATED", "DELETED":
					replay(t, cache, line, count["SYNCED"] > 0)
				case "SYNCED":
					if line["count"] != float64(len(cache)) || line["resourceVersion"] == "" {
						t.Errorf("%s: %d objects had been told", text, len(cache))
					}
				case "ANSWER":
					found := line["objects"].([]any)
					if len(found) != 1 || found[0].(map[string]any)["key"] != tt.key {
						t.Errorf("%s: want %s", text, tt.key)
					}
				}
			}
			answers := 1 + strings.Count(tt.args, "--by-ip")
			if count["SYNCED"] != 1 || count["STATUS"] != 1 || count["ANSWER"] != answers || count["ADDED"] < 10 || count["UPDATED"] < 50 || count["DELETED"] == 0 {
				t.Errorf("lines by type: %v", count)
			}
			if last["type"] != "STATUS" || last["objects"] != float64(len(cache)) || last["lists"] != 1.0 || last["watches"] != 1.0 || last["lastError"] != nil {
				t.Errorf("last line: %v", last)
			}
			checkDumped(t, dump, slices.Collect(maps.Values(cache)))
		})
	}
}

// replay applies an event line to a cache of what has been told.
func replay(t *testing.T, cache map[string]dumpedEntry, line map[string]any, synced bool) {
	t.Helper()
	key := line["key"].(string)
	version := line["resourceVersion"].(string)
	before, known := cache[key]
	if line["oldResourceVersion"] != before.ResourceVersion {
		t.Errorf("%v: the state before was %q", line, before.ResourceVersion)
	}
	if want := line["type"] != "ADDED"; known != want {
		t.Errorf("%v: told of before: %v", line, known)
	}
	if synced && (line["initial"] != false || line["source"] != "watch") {
		t.Errorf("%v: after SYNCED, on a healthy server", line)
	}
	if line["type"] == "DELETED" {
		if line["finalStateKnown"] != true {
			t.Errorf("%v: the deletion came by the watch", line)
		}
		delete(cache, key)
		return
	}
	cache[key] = dumpedEntry{key, line["uid"].(string), version}
}

func checkDumped(t *testing.T, file string, want []dumpedEntry) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []dumpedEntry
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	slices.SortFunc(want, func(a, b dumpedEntry) int { return strings.Compare(a.Key, b.Key) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dump (-want +got):\n%s", diff)
	}
}

// watched is a watch of the pods of a server under the test's control.
type watched struct {
	*apisim.Server
	dump string
	end  context.CancelCauseFunc
	done chan error

	mu  sync.Mutex
	out bytes.Buffer
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(b)
}

func newWatched(t *testing.T, pods int) *watched {
	t.Helper()
	w := &watched{Server: apisim.New(), dump: filepath.Join(t.TempDir(), "dump"), done: make(chan error, 1)}
	if err := w.Fill(pods); err != nil {
		t.Fatal(err)
	}
	return w
}

// start watches in the background; into w.out if out is nil.
func (w *watched) start(ctx context.Context, out io.Writer, change func(*watching)) {
	if out == nil {
		out = w
	}
	ctx, w.end = context.WithCancelCause(ctx)
	asked := &watching{dump: w.dump, out: newPrinter("json", out, out)}
	if change != nil {
		change(asked)
	}
	go func() { w.done <- followPods(ctx, asked, w.Config(), builtins()[0]) }()
}

// stop ends the watch and returns its lines and how it ended.
func (w *watched) stop(why error) ([]map[string]any, error) {
	w.end(why)
	err := <-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []map[string]any
	for _, text := range lines(w.out.String()) {
		var line map[string]any
		if json.Unmarshal([]byte(text), &line) == nil {
			all = append(all, line)
		}
	}
	return all, err
}

func ofType(all []map[string]any, kind string) (found []map[string]any) {
	for _, line := range all {
		if line["type"] == kind {
			found = append(found, line)
		}
	}
	return found
}

func refuseAll(code int32, reason metav1.StatusReason) func(*http.Request) apisim.Fault {
	return func(*http.Request) apisim.Fault {
		return apisim.Refuse(metav1.Status{Code: code, Reason: reason, Message: "planted"}, 0)
	}
}

var errStop = errors.New("stopped by the test")

// A status that turns bad is one ERROR line, not one for each attempt; what
// the server answers after the first sync never ends the watch.
func TestWatchReportsTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t, 3)
		w.start(t.Context(), nil, nil)
		synctest.Wait()
		for range 2 {
			time.Sleep(time.Minute) // virtual: a watch that ends at once is trouble of another kind
			w.SetFault(refuseAll(http.StatusForbidden, metav1.StatusReasonForbidden))
			w.CloseWatches()
			time.Sleep(5 * time.Minute) // virtual: many attempts
			w.SetFault(nil)
			time.Sleep(2 * time.Minute)                                                     // virtual: the watch is open again, and not at the end of its time when the next trouble begins
			if _, err := w.Create(apisim.Pods().GVR, apisim.RealisticPod(99)); err != nil { // heard of again: the trouble is over
				t.Fatal(err)
			}
			synctest.Wait()
			if _, err := w.Delete(apisim.Pods().GVR, "team-19", apisim.RealisticPod(99).Name); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		all, err := w.stop(errStop)
		if !errors.Is(err, errStop) {
			t.Fatalf("err = %v", err)
		}
		trouble := ofType(all, "ERROR")
		if len(trouble) != 2 {
			t.Fatalf("%d ERROR lines for two spells of trouble: %v", len(trouble), trouble)
		}
		for _, line := range trouble {
			if line["reason"] != "Forbidden" || !strings.Contains(line["message"].(string), "planted") {
				t.Errorf("%v", line)
			}
		}
		if last := all[len(all)-1]; last["type"] != "STATUS" || last["lastError"] != nil || last["synced"] != true {
			t.Errorf("last line: %v", last)
		}
	})
}

// Before the first sync, what waiting can't mend ends the watch; what it may
// mend does not.
func TestWatchBeforeSync(t *testing.T) {
	for _, tt := range []struct {
		why   string
		fault func(*http.Request) apisim.Fault
		fatal bool
		want  string
	}{
		{"not allowed", refuseAll(403, metav1.StatusReasonForbidden), true, "Forbidden"},
		{"not known", refuseAll(401, metav1.StatusReasonUnauthorized), true, "Unauthorized"},
		{"not there", refuseAll(404, metav1.StatusReasonNotFound), true, "NotFound"},
		{"can't be watched", refuseAll(405, metav1.StatusReasonMethodNotAllowed), true, "MethodNotAllowed"},
		{"busy", refuseAll(429, metav1.StatusReasonTooManyRequests), false, "TooManyRequests"},
		{"starting", refuseAll(503, metav1.StatusReasonServiceUnavailable), false, "ServiceUnavailable"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWatched(t, 3)
				w.SetFault(tt.fault)
				w.start(t.Context(), nil, nil)
				time.Sleep(time.Hour) // virtual
				ended := len(w.done) > 0
				all, err := w.stop(errStop)
				trouble := ofType(all, "ERROR")
				if ended != tt.fatal || len(trouble) != 1 || trouble[0]["reason"] != tt.want {
					t.Fatalf("ended by itself: %v, err %v, ERROR lines %v; want %v and %s", ended, err, trouble, tt.fatal, tt.want)
				}
				if last := all[len(all)-1]; last["type"] != "STATUS" || last["synced"] != false || last["lastError"] == nil {
					t.Errorf("last line: %v", last)
				}
				checkDumped(t, w.dump, []dumpedEntry{})
			})
		})
	}
}

// What was missed is found by the next list, and said to be found so.
func TestWatchAfterLostHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t, 3)
		w.start(t.Context(), nil, nil)
		synctest.Wait()
		w.SetFault(refuseAll(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable))
		w.CloseWatches()
		gone := apisim.RealisticPod(1)
		if _, err := w.Delete(apisim.Pods().GVR, gone.Namespace, gone.Name); err != nil {
			t.Fatal(err)
		}
		w.Compact()
		w.SetFault(nil)
		time.Sleep(5 * time.Minute) // virtual
		all, _ := w.stop(errStop)
		deleted := ofType(all, "DELETED")
		if len(deleted) != 1 || deleted[0]["source"] != "relist" || deleted[0]["finalStateKnown"] != false || deleted[0]["key"] != gone.Namespace+"/"+gone.Name {
			t.Errorf("DELETED lines: %v", deleted)
		}
		if last := all[len(all)-1]; !cmp.Equal(last["relists"], map[string]any{"Expired": 1.0}) || last["lists"] != 2.0 {
			t.Errorf("last line: %v", last)
		}
	})
}

// L5, L4: an output that nobody reads from holds up neither the end nor the dump.
func TestL5StuckOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, out := io.Pipe()
		defer r.Close() // lets the stuck writers go
		w := newWatched(t, 3)
		w.start(t.Context(), out, nil)
		synctest.Wait()
		begin := time.Now()
		_, err := w.stop(errStop)
		if took := time.Since(begin); !errors.Is(err, errStop) || took > time.Second {
			t.Errorf("err %v after %v", err, took)
		}
		var entries []dumpedEntry
		if raw, err := os.ReadFile(w.dump); err != nil || json.Unmarshal(raw, &entries) != nil || len(entries) != 3 {
			t.Errorf("dump: %s, %v", raw, err)
		}
	})
}

// A reader that goes away, as head does, ends the watch without a word.
func TestReaderGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, out := io.Pipe()
		w := newWatched(t, 3)
		w.start(t.Context(), out, nil)
		synctest.Wait()
		r.Close()
		if err := <-w.done; err != nil {
			t.Errorf("err = %v", err)
		}
		if raw, err := os.ReadFile(w.dump); err != nil || !bytes.Contains(raw, []byte("team-01/")) {
			t.Errorf("dump: %s, %v", raw, err)
		}
	})
}

// --for that ends before the first list is a failure that says why.
func TestForWithoutList(t *testing.T) {
	for _, tt := range []struct {
		why   string
		fault apisim.Fault
		want  string
	}{
		{"silence", apisim.Hang(), "the server hasn't answered"},
		{"busy", apisim.Refuse(metav1.Status{Code: 503, Reason: metav1.StatusReasonServiceUnavailable, Message: "planted"}, 0), "planted"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWatched(t, 3)
				w.SetFault(func(*http.Request) apisim.Fault { return tt.fault })
				ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errTimeUp)
				defer cancel()
				w.start(ctx, nil, func(asked *watching) { asked.limit = 10 * time.Second })
				err := <-w.done
				w.end(nil)
				if err == nil || !strings.Contains(err.Error(), "no complete list within 10s: ") || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("err = %v; want %q", err, tt.want)
				}
			})
		})
	}
}

func TestPodIPs(t *testing.T) {
	for _, tt := range []struct {
		why    string
		status corev1.PodStatus
		want   []string
	}{
		{"none yet", corev1.PodStatus{}, []string{}},
		{"an old server fills podIP alone", corev1.PodStatus{PodIP: "10.0.0.1"}, []string{"10.0.0.1"}},
		{"both families", corev1.PodStatus{PodIP: "10.0.0.1", PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}, {IP: "fd00::1"}}}, []string{"10.0.0.1", "10.0.0.1", "fd00::1"}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := podIPs(&corev1.Pod{Status: tt.status})
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestTextLines(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var out, errOut bytes.Buffer
	p := newPrinter("text", &out, &errOut)
	text := "planted"
	for _, err := range []error{
		p.event(eventLine{Time: at, Type: informer.Updated.String(), Key: "a/b", ResourceVersion: "2", OldResourceVersion: "1", Source: "watch"}),
		p.event(eventLine{Time: at, Type: informer.Deleted.String(), Key: "a/b", ResourceVersion: "2", OldResourceVersion: "2", Source: "relist"}),
		p.synced(syncedLine{Time: at, Count: 3, ResourceVersion: "9"}),
		p.answer(answerLine{Time: at, Query: "byIP", Value: netip.MustParseAddr("10.0.0.1").String()}),
		p.answer(answerLine{Time: at, Query: "get", Value: "a/b", Objects: []dumpedEntry{{object.Key{Namespace: "a", Name: "b"}.String(), "u", "2"}}}),
		p.problem(errorLine{Time: at, Reason: "Network", Message: "planted"}),
		p.problem(errorLine{Time: at, Reason: "Forbidden", Message: "said by the command's own last line", fatal: true}),
		p.status(statusLine{Time: at, Objects: 3, Lists: 2, Watches: 1, Relists: map[string]int{"Expired": 1}, LastError: &text}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := `03:04:05.000 UPDATED a/b  1 -> 2  (watch)
03:04:05.000 DELETED a/b  2  (relist, final state unknown)
03:04:05.000 SYNCED  3 objects at resourceVersion 9
03:04:05.000 ANSWER  byIP 10.0.0.1: nothing
03:04:05.000 ANSWER  get a/b: a/b  2  uid u
03:04:05.000 STATUS  3 objects, 2 lists, 1 watches, 1 relists (Expired 1), last error: planted
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if want := "03:04:05.000 ERROR   Network: planted\n"; errOut.String() != want {
		t.Errorf("standard error %q, want %q", errOut.String(), want)
	}
}
