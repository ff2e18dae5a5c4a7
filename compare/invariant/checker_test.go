package invariant

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/types"

	"informer.example/object"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func key(name string) object.Key { return object.Key{Namespace: "default", Name: name} }

// history is: a at 101, b at 102, a again at 103, b deleted at 104, c at 105, and
// out of the selection at 106.
func history() *History {
	h := NewHistory()
	h.Set(key("a"), "1", "101")
	h.Set(key("b"), "2", "102")
	h.Set(key("a"), "1", "103")
	h.Delete(key("b"), "104")
	h.Set(key("c"), "3", "105")
	h.Leave(key("c"), "106")
	return h
}

// state is written as "a@101 b@102"; the UID of a is 1, and so on.
func state(words string) State {
	s := State{}
	for word := range strings.FieldsSeq(words) {
		name, rv, _ := strings.Cut(word, "@")
		s[key(name)] = Version{types.UID(fmt.Sprint(name[0] - 'a' + 1)), rv}
	}
	return s
}

// TestChecker: a checker that can't fail is worse than none. Each invariant is
// broken once and kept once in nearly the same way.
func TestChecker(t *testing.T) {
	type checker = *Checker
	store := func(rv, words string) func(checker) {
		return func(c checker) { c.Store(func() (string, State) { return rv, state(words) }) }
	}
	event := func(typ, name string, uid types.UID, rv string) func(checker) {
		return func(c checker) { c.Event(Event{Type: typ, Key: key(name), UID: uid, RV: rv}) }
	}
	together := func(c checker) {
		c.opts.History.Set(key("d"), "4", "107")
		c.opts.History.Set(key("e"), "5", "108")
		c.opts.History.DeleteTogether([]object.Key{key("d"), key("e")}, "110")
	}
	tests := []struct {
		name, why string
		did       []func(checker)
		broken    string // the id, "" if all is well
	}{
		{"I1_AState", "a state that was", []func(checker){store("102", "a@101 b@102"), store("103", "a@103 b@102"), store("104", "a@103")}, ""},
		{"I1_AVersionOfAnotherResource", "the counter is shared, so versions in between are usual", []func(checker){store("110", "a@103")}, ""},
		{"I1_HalfAList", "b is missing", []func(checker){store("102", "a@101")}, "I1"},
		{"I1_ALostDelete", "b is there still", []func(checker){store("104", "a@103 b@102")}, "I1"},
		{"I1_AnotherVersion", "a is old", []func(checker){store("103", "a@101 b@102")}, "I1"},
		{"I1_Lingers", "d and e go at 110, and the client has heard of e alone", []func(checker){together, store("108", "a@103 d@107 e@108"), store("110", "a@103 d@107"), store("112", "a@103 d@107"), store("112", "a@103")}, ""},
		{"I1_LingersFromTheStart", "the first look comes between the two", []func(checker){together, store("110", "a@103 e@108")}, ""},
		{"I1_LingersNoLonger", "what was gone is back", []func(checker){together, store("110", "a@103 d@107"), store("112", "a@103 d@107 e@108")}, "I1"},
		{"I1_LingersInAnotherVersion", "", []func(checker){together, store("110", "a@103 d@106")}, "I1"},
		{"I1_LingersTooEarly", "neither has gone yet", []func(checker){together, store("109", "a@103 d@107")}, "I1"},
		{"I1_LingersAndLacks", "a has not gone at all", []func(checker){together, store("110", "d@107")}, "I1"},
		{"I1_LingersBehindAnother", "d was made anew, which the watch has told", []func(checker){together,
			func(c checker) { c.opts.History.Set(key("d"), "7", "111") }, store("111", "a@103 d@107")}, "I1"},
		{"I14_Lingers", "in the end nothing does", []func(checker){together, event("ADDED", "a", "1", "103"), func(c checker) { c.Converged(state("a@103 d@107"), state("a@103")) }}, "I14"},
		{"I2_Backwards", "a state that was, but from before", []func(checker){store("103", "a@103 b@102"), store("102", "a@101 b@102")}, "I2"},
		{"I2_Rollback", "the server went back too", []func(checker){
			store("103", "a@103 b@102"), func(c checker) { c.opts.History.Rollback("102") }, store("102", "a@101 b@102")}, ""},
		{"I2_RollbackOnce", "one rollback explains one step back", []func(checker){
			store("103", "a@103 b@102"), func(c checker) { c.opts.History.Rollback("102") }, store("102", "a@101 b@102"), store("101", "a@101")}, "I2"},
		{"I6_ANewUID", "an update may not change the UID", []func(checker){event("ADDED", "a", "1", "101"), event("UPDATED", "a", "9", "102")}, "I6"},
		{"I6_DeleteThenAdd", "this is how", []func(checker){event("ADDED", "a", "1", "101"), event("DELETED", "a", "1", "102"), event("ADDED", "a", "9", "103")}, ""},
		{"I6_AddedTwice", "", []func(checker){event("ADDED", "a", "1", "101"), event("ADDED", "a", "1", "102")}, "I6"},
		{"I6_DeletedUnknown", "", []func(checker){event("DELETED", "a", "1", "102")}, "I6"},
		{"I7_HandlerBackwards", "", []func(checker){event("ADDED", "a", "1", "103"), event("UPDATED", "a", "1", "102")}, "I7"},
		{"I7_HandlerReplay", "the same version again is a replay", []func(checker){event("ADDED", "a", "1", "103"), event("UPDATED", "a", "1", "103")}, "I7"},
		{"I7_Resync", "but a resync is one on purpose", []func(checker){event("ADDED", "a", "1", "103"),
			func(c checker) { c.Event(Event{Type: "UPDATED", Key: key("a"), UID: "1", RV: "103", Resync: true}) }}, ""},
		{"I7_StoreBackwards", "the store moves on, the object goes back", []func(checker){store("103", "a@103 b@102"), store("104", "a@101")}, "I7"},
		{"I8_Left", "c left the selection at 106, and is there", []func(checker){store("106", "a@103 c@105")}, "I8"},
		{"I8_Gone", "", []func(checker){store("106", "a@103")}, ""},
		{"I9_NoVersion", "objects, and no version", []func(checker){store("", "a@101")}, "I9"},
		{"I9_SyncedOnce", "synced, and then no longer", []func(checker){func(c checker) { c.Synced(true); c.Synced(false) }}, "I9"},
		{"I12_Heap", "", []func(checker){func(c checker) { c.Heap(2<<20, 1<<20) }}, "I12"},
		{"I12_HeapWithin", "", []func(checker){func(c checker) { c.Heap(1<<20, 1<<20) }}, ""},
		{"I14_NotConverged", "", []func(checker){func(c checker) { c.Converged(state("a@101"), state("a@103")) }}, "I14"},
		{"I14_HandlerNotConverged", "the store is right and the handler wasn't told", []func(checker){func(c checker) { c.Converged(state("a@103"), state("a@103")) }}, "I14"},
		{"I14_Converged", "", []func(checker){event("ADDED", "a", "1", "103"), func(c checker) { c.Converged(state("a@103"), state("a@103")) }}, ""},
		{"I14_Goroutines", "", []func(checker){func(c checker) { c.Stopped(5, 6) }}, "I14"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := New(Options{History: history()})
			for _, do := range tt.did {
				do(c)
			}
			wantOnly(t, c, tt.broken, tt.why)
		})
	}
}

// wantOnly fails unless the checker complains of that invariant first, or of none.
func wantOnly(t *testing.T, c *Checker, id, why string) {
	t.Helper()
	found := c.Violations()
	switch {
	case id == "" && len(found) > 0:
		t.Errorf("%s: %v", why, c.Err())
	case id != "" && (len(found) == 0 || found[0].ID != id):
		t.Errorf("%s: %v, want a complaint about %s", why, found, id)
	}
	if (c.Err() == nil) != (len(found) == 0) {
		t.Errorf("Err: %v", c.Err())
	}
}

// step is one exchange in a test: what is asked, what is answered.
type step struct {
	query  string // of /api/v1/pods
	code   int    // 0: the connection fails
	body   string
	after  string // Retry-After
	breaks bool
	wait   time.Duration // before
	lasts  time.Duration
}

func TestChecker_Wire(t *testing.T) {
	const (
		list    = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"105"},"items":[]}`
		older   = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"101"},"items":[]}`
		paged   = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"105","continue":"t"},"items":[]}`
		added   = `{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"107"}}}` + "\n"
		mark    = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"109"}}}` + "\n"
		end     = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"108","annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
		odd     = `{"type":"SYNC","object":{}}` + "\n"
		gone    = `{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}` + "\n"
		expired = `{"kind":"Status","code":410,"reason":"Expired","metadata":{"continue":"t2"}}`
		large   = `{"kind":"Status","code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}`
		watch   = "watch=1&timeoutSeconds=60&resourceVersion="
		state   = "watch=1&timeoutSeconds=60&sendInitialEvents=true&resourceVersion="
	)
	first := step{query: "resourceVersion=0", code: 200, body: list}
	tests := []struct {
		name, why string
		steps     []step
		broken    string
	}{
		{"I3_List", "from the list's version", []step{first, {query: watch + "105", code: 200}}, ""},
		{"I3_Event", "from an event's", []step{first, {query: watch + "105", code: 200, body: added}, {query: watch + "107"}}, ""},
		{"I3_Bookmark", "from a bookmark's", []step{first, {query: watch + "105", code: 200, body: mark}, {query: watch + "109"}}, ""},
		{"I3_Marker", "from a marker's", []step{{query: state, code: 200, body: added + end}, {query: watch + "108"}}, ""},
		{"I3_Synthetic", "an initial event is no place to resume", []step{{query: state, code: 200, body: added + end}, {query: watch + "107"}}, "I3"},
		{"I3_Unknown", "", []step{first, {query: watch + "106"}}, "I3"},
		{"I3_FirstPage", "the list isn't complete", []step{{query: "limit=5", code: 200, body: paged}, {query: watch + "105"}}, "I3"},
		{"I3_CutList", "", []step{{query: "", code: 200, body: list[:20], breaks: true}, {query: watch + "105"}}, "I3"},
		{"I4_NoReason", "a clean end is no reason", []step{first, {query: watch + "105", code: 200, body: added}, {query: "resourceVersion=107", code: 200, body: list}}, "I4"},
		{"I4_Broken", "nor is a connection that breaks", []step{first, {query: watch + "105", code: 200, body: added, breaks: true}, {query: "resourceVersion=107"}}, "I4"},
		{"I4_Expired", "", []step{first, {query: watch + "105", code: 200, body: gone}, {query: "resourceVersion=105"}}, ""},
		{"I4_Unreadable", "", []step{first, {query: watch + "105", code: 200, body: odd}, {query: "resourceVersion=105"}}, ""},
		{"I4_Retry", "a list that failed may be asked for again", []step{{query: "resourceVersion=0"}, {query: "resourceVersion=0", code: 500}, first}, ""},
		{"I4_OldList", "one from before is not taken, and asked for again", []step{first, {query: watch + "105", code: 200, body: gone}, {query: "resourceVersion=105", code: 200, body: older}, {query: ""}}, ""},
		{"I5_TheSameList", "", []step{{query: "resourceVersion=105", code: 410, body: expired}, {query: "resourceVersion=105"}}, "I5"},
		{"I5_TooLarge", "", []step{{query: "resourceVersion=105", code: 504, body: large}, {query: "resourceVersion=105"}}, "I5"},
		{"I5_AnotherList", "", []step{{query: "resourceVersion=105", code: 410, body: expired}, {query: ""}}, ""},
		{"I5_TheSameWatch", "", []step{first, {query: watch + "105", code: 200, body: gone}, {query: watch + "105"}}, "I5"},
		{"I5_Token", "", []step{{query: "continue=t", code: 410, body: expired}, {query: "continue=t2"}}, "I5"},
		{"I10_TooEarly", "", []step{{query: "", code: 429, after: "5"}, {query: "", wait: 4 * time.Second}}, "I10"},
		{"I10_Twice", "waited far more than once", []step{{query: "", code: 429, after: "60"}, {query: "", wait: 120 * time.Second}}, "I10"},
		{"I10_Once", "", []step{{query: "", code: 429, after: "5"}, {query: "", wait: 6 * time.Second}}, ""},
		{"I11_Watch", "", []step{first, {query: watch + "105", code: 200, lasts: 2 * time.Minute}}, "I11"},
		{"I11_List", "", []step{{query: "", lasts: 2 * time.Minute}}, "I11"},
		{"I11_InTime", "", []step{first, {query: watch + "105", code: 200, lasts: time.Minute}}, ""},
		{"I13_Skipped", "the event behind the odd one was used", []step{first, {query: watch + "105", code: 200, body: odd + added}, {query: watch + "107"}}, "I13"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := New(Options{})
				for _, s := range tt.steps {
					exchangeOf(t, c, s)
				}
				wantOnly(t, c, tt.broken, tt.why)
			})
		})
	}
	t.Run("I4_Verify", func(t *testing.T) {
		c := New(Options{Verify: true})
		exchangeOf(t, c, first)
		exchangeOf(t, c, first)
		wantOnly(t, c, "", "the user wants it")
	})
	t.Run("I3_LongPage", func(t *testing.T) {
		c := New(Options{MaxPage: len(list) - 1})
		exchangeOf(t, c, first)
		exchangeOf(t, c, step{query: watch + "105", code: 200})
		wantOnly(t, c, "", "the page was too long to be looked into, so its version isn't known")
	})
	t.Run("I9_NothingSent", func(t *testing.T) {
		c := New(Options{})
		exchangeOf(t, c, step{query: state, code: 200, body: added})
		c.Synced(true)
		wantOnly(t, c, "I9", "the marker hasn't come")
	})
	t.Run("I9_Sent", func(t *testing.T) {
		c := New(Options{})
		exchangeOf(t, c, step{query: state, code: 200, body: added + end})
		c.Synced(true)
		wantOnly(t, c, "", "the marker has come")
	})
	t.Run("I10_HotLoop", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := New(Options{})
			for range 20 {
				exchangeOf(t, c, step{query: state, code: 503, wait: 100 * time.Millisecond})
			}
			wantOnly(t, c, "I10", "a loop")
		})
	})
	t.Run("I10_Pace", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := New(Options{})
			for range 20 {
				exchangeOf(t, c, step{query: state, code: 503, wait: time.Second})
			}
			wantOnly(t, c, "", "a pace")
		})
	})
}

func exchangeOf(t *testing.T, c *Checker, s step) {
	t.Helper()
	time.Sleep(s.wait)
	rt := c.Transport(roundTripper(func(*http.Request) (*http.Response, error) {
		time.Sleep(s.lasts)
		if s.code == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		var body io.Reader = strings.NewReader(s.body)
		if s.breaks {
			body = io.MultiReader(body, brokenReader{})
		}
		h := http.Header{"Content-Type": {"application/json"}}
		if s.after != "" {
			h.Set("Retry-After", s.after)
		}
		return &http.Response{StatusCode: s.code, Header: h, Body: io.NopCloser(body)}, nil
	}))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://s/api/v1/pods?"+s.query, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
