package wire

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"informer.example/realcluster"
)

// recorded is the folder in the main module.
const recorded = "../../testdata/wire"

func readRecorded(t *testing.T) Index {
	t.Helper()
	ix, err := Read(recorded)
	if err != nil {
		t.Fatalf("%v; make it with: go run ./record", err)
	}
	return ix
}

func find(t *testing.T, ix Index, name string) Exchange {
	t.Helper()
	i := slices.IndexFunc(ix.Exchanges, func(e Exchange) bool { return e.Name == name })
	if i < 0 {
		t.Fatalf("nothing recorded as %s", name)
	}
	return ix.Exchanges[i]
}

// A difference means that the server or the recorder has changed: look at it,
// and record anew if it is right.
func TestRecordingMatchesLiveServer(t *testing.T) { // W2, W3
	old := readRecorded(t)
	cluster := realcluster.ForTest(t, realcluster.Options{
		CRDs: []*apiextensionsv1.CustomResourceDefinition{WidgetCRD()},
	})
	live, err := Record(t.Context(), cluster)
	if err != nil {
		t.Fatal(err)
	}
	if old.Server != live.Server {
		t.Errorf("recorded from %s, the server is %s", old.Server, live.Server)
	}
	names := func(ix Index) []string {
		var names []string
		for _, e := range ix.Exchanges {
			names = append(names, e.File)
		}
		return names
	}
	if diff := cmp.Diff(names(old), names(live)); diff != "" {
		t.Fatalf("other exchanges than recorded (-recorded +live):\n%s", diff)
	}
	for i, e := range live.Exchanges {
		want, err := Shape(old.Exchanges[i])
		if err != nil {
			t.Fatal(err)
		}
		got, err := Shape(e)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s has another shape (-recorded +live):\n%s", e.Name, diff)
		}
	}
}

func TestRecordedStatuses(t *testing.T) {
	ix := readRecorded(t)
	for _, c := range []struct {
		name   string
		status int
		body   string
		why    string
	}{
		{"pods-list-expired-continue-json", 410, `"reason":"Expired"`, "an old token is HTTP 410"},
		{"pods-list-expired-exact-json", 410, `"reason":"Expired"`, "an old exact resourceVersion is HTTP 410"},
		{"pods-watch-expired-json", 200, `"code":410`, "on a watch, 410 comes in the stream"},
		{"pods-watch-expired-protobuf", 200, "Expired", "on a watch, 410 comes in the stream"},
		{"widgets-watch-expired", 200, `"code":410`, "custom resources do the same"},
		{"pods-list-too-large-json", 504, `ResourceVersionTooLarge`, "the cause tells it from other timeouts"},
		{"pods-watchlist-too-large-json", 200, `ResourceVersionTooLarge`, "a watch-list says it in the stream"},
		{"pod-get-missing-json", 404, `"reason":"NotFound"`, "a missing object has a Status"},
		{"unknown-resource", 404, "404 page not found", "a missing resource has none"},
		{"pods-list-unauthorized-json", 401, `"reason":"Unauthorized"`, "bad credentials"},
		{"pods-list-forbidden-protobuf", 403, "Forbidden", "no right"},
		{"pods-list-invalid-json", 422, `"reason":"Invalid"`, "options that contradict each other"},
		{"not-listable", 405, "MethodNotAllowed", "create-only resource"},
		{"widgets-list-protobuf", 406, "NotAcceptable", "no protobuf for custom resources"},
		{"pods-watch-json", 200, `"type":"BOOKMARK"`, "a bookmark before the end"},
		{"pods-watchlist-json", 200, marker, "the end of initial events is marked"},
		{"pods-watchlist-protobuf", 200, marker, "the end of initial events is marked"},
		{"pods-watch-implicit", 200, marker, "asked for or not"},
		{"pods-watch-quiet", 200, "", "an empty body is no error"},
	} {
		e := find(t, ix, c.name)
		if e.Response.Status != c.status || !bytes.Contains(e.Body, []byte(c.body)) {
			t.Errorf("%s: status %d, body %.200q; want %d and %s (%s)", c.name, e.Response.Status, e.Body, c.status, c.body, c.why)
		}
	}
}

func TestBothEncodingsSayTheSame(t *testing.T) {
	ix := readRecorded(t)
	var fromJSON, fromProtobuf corev1.PodList
	data := find(t, ix, "pods-list-json").Body
	if err := json.Unmarshal(data, &fromJSON); err != nil {
		t.Fatal(err)
	}
	var envelope runtime.Unknown
	raw := find(t, ix, "pods-list-protobuf").Body
	if err := envelope.Unmarshal(raw[4:]); err != nil {
		t.Fatal(err)
	}
	if err := fromProtobuf.Unmarshal(envelope.Raw); err != nil {
		t.Fatal(err)
	}
	fromProtobuf.TypeMeta = fromJSON.TypeMeta // in the envelope
	if diff := cmp.Diff(fromJSON, fromProtobuf); diff != "" {
		t.Errorf("the lists differ (-JSON +protobuf):\n%s", diff)
	}
	n := len(fromJSON.Items)
	if n != 48 {
		t.Fatalf("%d pods are recorded, want 48", n)
	}
	if size := len(data) / n; size < 4500 || size > 6200 {
		t.Errorf("a pod takes %d bytes of JSON; a real one about 5000", size)
	}
	if size := len(raw) / n; size < 2700 || size > 4200 {
		t.Errorf("a pod takes %d bytes of protobuf; a real one about 3000", size)
	}
}

func TestRecordingHasNoSecretsAndIsSmall(t *testing.T) { // W4
	entries, err := os.ReadDir(recorded)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, entry := range entries {
		data, err := os.ReadFile(recorded + "/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		total += len(data)
		data = bytes.ReplaceAll(data, []byte("Bearer made-up"), nil)
		for _, bad := range []string{"Bearer", "BEGIN ", "PRIVATE", "eyJhbGci", "kube-api-access"} {
			if bytes.Contains(data, []byte(bad)) {
				t.Errorf("%s contains %q", entry.Name(), bad)
			}
		}
	}
	if total > 2_000_000 {
		t.Errorf("the recording takes %d bytes; keep it below 2 MB", total)
	}
}

func TestShapeSeesChanges(t *testing.T) { // W3
	const list = `{"kind":"L","metadata":{"resourceVersion":"7","continue":""},"items":[{"n":1,"uid":"u","time":"t"}]}`
	shape := func(body string) string {
		s, err := Shape(Exchange{Name: "x", File: "x.json", Response: Response{Status: 200}, Body: []byte(body)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		why, old, new string
		same          bool
	}{
		{"resourceVersions differ each time", `"7"`, `"8"`, true},
		{"UIDs differ each time", `"u"`, `"v"`, true},
		{"times differ each time", `"t"`, `"s"`, true},
		{"a missing resourceVersion matters", `"7"`, `""`, false},
		{"a resourceVersion of 0 is not a version", `"7"`, `"0"`, false},
		{"a value matters", `"n":1`, `"n":2`, false},
		{"its type matters", `"n":1`, `"n":null`, false},
		{"a new key matters", `"n":1`, `"n":1,"m":1`, false},
		{"a token where there was none matters", `"continue":""`, `"continue":"c"`, false},
		{"the order of keys matters", `"kind":"L","metadata":{"resourceVersion":"7","continue":""}`, `"metadata":{"resourceVersion":"7","continue":""},"kind":"L"`, false},
		{"an item less matters", `{"n":1,"uid":"u","time":"t"}`, ``, false},
	} {
		changed := strings.Replace(list, c.old, c.new, 1)
		if changed == list {
			t.Fatalf("%s: nothing was replaced", c.why)
		}
		if (shape(changed) == shape(list)) != c.same {
			t.Errorf("%s: %s", c.why, changed)
		}
	}
}

func TestShapeRefusesBrokenBodies(t *testing.T) {
	for _, c := range []struct{ why, file, body string }{
		{"a cut JSON list", "x.json", `{"items":[`},
		{"two values where one belongs", "x.json", `{}{}`},
		{"a cut watch event", "x.frames.json", `{"type":"ADDED"`},
		{"a cut length", "x.frames.pb", "\x00\x00"},
		{"a length past the end", "x.frames.pb", "\x00\x00\x00\x09abc"},
		{"no protobuf envelope", "x.pb", "abc"},
		{"not compressed", "x.json.gz", "{}"},
	} {
		if _, err := Shape(Exchange{Name: "x", File: c.file, Body: []byte(c.body)}); err == nil {
			t.Errorf("%s has a shape", c.why)
		}
	}
}

func TestShapeIgnoresWhenBookmarksCome(t *testing.T) {
	const bookmark = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"5"}}}` + "\n"
	const end = `{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
	const added = `{"type":"ADDED","object":{}}` + "\n"
	shape := func(body string) string {
		s, err := Shape(Exchange{Name: "x", File: "x.frames.json", Body: []byte(body)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		why, a, b string
		same      bool
	}{
		{"their number depends on timing", added + bookmark, added + bookmark + bookmark, true},
		{"their place depends on timing", added + bookmark, bookmark + added, true},
		{"that they come at all does not", added + bookmark, added, false},
		{"the end marker's place matters", added + end, end + added, false},
		{"the number of events matters", added, added + added, false},
	} {
		if (shape(c.a) == shape(c.b)) != c.same {
			t.Errorf("%s:\n%s%s", c.why, c.a, c.b)
		}
	}
}

func TestWriteAndRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/mine.txt", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	make := func(names ...string) Index {
		ix := Index{Server: "v1"}
		for _, n := range names {
			ix.Exchanges = append(ix.Exchanges, Exchange{Name: n, File: n + ".txt", Response: Response{Status: 200}, Body: []byte(n)})
		}
		return ix
	}
	if err := Write(dir, make("old", "both")); err != nil {
		t.Fatal(err)
	}
	want := make("both", "new")
	if err := Write(dir, want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read something else than was written (-want +got):\n%s", diff)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"README.md", "both.txt", "index.json", "mine.txt", "new.txt"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
