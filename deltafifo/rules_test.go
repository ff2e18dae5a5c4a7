package deltafifo

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"informer.example/object"
)

// Scripts and results are in the short form that text explains.
func TestWhatABatchHolds(t *testing.T) {
	tests := []struct {
		name, store, script string
		inOrder, fifo       string // fifo "" means that PopBatch would block
		why                 string
	}{
		{"then and now", "", "+a1 +b2 ~a3", "+a1 +b2 ~a3", "+a1 ~a3 +b2 @3",
			"the classic gathers by object, so that b2 comes after a3 and the version has to be told apart"},
		{"one write", "", "+a1", "+a1", "+a1",
			"the last delta has the last version: no bookmark is needed"},
		{"a bookmark behind an item", "", "+a1 @5", "+a1 @5", "+a1 @5",
			"the version moves when what came before it is applied"},
		{"an item behind a bookmark", "", "+a1 @5 ~a6", "+a1 @5 ~a6", "+a1 ~a6",
			"the item's version is newer than the bookmark's, and the last delta has it"},
		{"bookmarks", "", "@1 @2 @3", "@3", "@3",
			"only the newest of adjacent bookmarks says anything"},
		{"bookmarks apart", "", "@1 +a2 @3 @4", "@1 +a2 @4", "+a2 @4",
			"in order, a bookmark isn't moved past a change"},
		{"rollback", "", "+a9 {a3 @3}", "+a9 [a3 @3]", "+a9 =a3 @3",
			"the last write counts: versions aren't compared"},
		{"a list without a version", "", "{a1}", "[a1 @]", "=a1",
			"an unknown version is no version"},

		{"delete twice", "a1", "-a2 -a3", "-a2 -a3", "-a2 @3",
			"two deletions in a row tell one thing: the older known one stays"},
		{"delete, add, delete", "a1", "-a2 +a3 -a4", "-a2 +a3 -a4", "-a2 +a3 -a4",
			"only adjacent deletions are one"},
		{"delete the unknown", "b1", "-a2", "-a2", "@2",
			"a list has told of it already; the version is taken nevertheless"},
		{"delete the queued", "", "+a1 -a2", "+a1 -a2", "+a1 -a2",
			"what waits counts as known, although the store hasn't got it"},

		{"relist", "a1 b1 c1", "{a5 d5 @7}", "[a5 d5 @7]", "=a5 =d5 !b1 !c1 @7",
			"what the list lacks is deleted, with the store's state as the last known"},
		{"relist over the queue", "a1", "~a2 {b3 @4}", "~a2 [b3 @4]", "~a2 !a2 =b3 @4",
			"a queued state is newer than the store's"},
		{"relist over a queued newcomer", "", "+a2 {b3 @4}", "+a2 [b3 @4]", "+a2 !a2 =b3 @4",
			"the store will hold it by then"},
		{"relist over a queued deletion", "a1", "-a2 {b3 @4}", "-a2 [b3 @4]", "-a2 =b3 @4",
			"the deletion with a known final state is kept, not the tombstone"},
		{"relist with what was deleted", "a1", "-a2 {a3 @4}", "-a2 [a3 @4]", "-a2 =a3 @4",
			"deleted and made again: both are told"},
		{"relist twice", "a1", "{@2} {@3}", "[@2] [@3]", "!a1 @3",
			"a tombstone on a tombstone is one, and isn't nested"},
		{"deletion after a tombstone", "a1", "{@2} -a3", "[@2] -a3", "-a3",
			"the deletion knows the final state, the tombstone doesn't"},
		{"relist with a doublet", "", "{a1 a2 @2}", "[a1 a2 @2]", "=a1 =a2 @2",
			"the list is passed on as it is; the later one wins in the store"},
		{"keep", "a1 b1 c1", "{a5 @7 b}", "[a5 @7]", "=a5 !c1 @7",
			"b couldn't be read: it is neither set nor deleted"},
		{"keep the queued", "", "+b2 {a5 @7 b}", "+b2 [a5 @7]", "+b2 =a5 @7",
			"the same for what waits"},

		{"resync", "a1 b1", "~a2 ??", "~a2 ??", "~a2 ?b1 @2",
			"a has news coming: the store's state of it would be old"},
		{"resync, then an update", "a1", "?? ~a2", "?? ~a2", "?a1 ~a2",
			"the update comes behind"},
		{"resync of nothing", "", "+a1 ??", "+a1 ??", "+a1",
			"an empty store has nothing to process again"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			q := NewInOrder(Options[obj]{})
			run(t, q, tc.script)
			checkInvariants(t, q)
			if got := popText(t, q); got != tc.inOrder {
				t.Errorf("InOrder: got %s, want %s: %s", got, tc.inOrder, tc.why)
			}
			f := NewDeltaFIFO(Options[obj]{KnownObjects: storeOf(tc.store)})
			run(t, f, tc.script)
			checkInvariants(t, f)
			if got := popText(t, f); got != tc.fifo {
				t.Errorf("DeltaFIFO: got %s, want %s: %s", got, tc.fifo, tc.why)
			}
			checkInvariants(t, q)
			checkInvariants(t, f)
		})
	}
}

// While process runs, the store doesn't show what is being processed yet, but
// it will (Q9).
func TestWritesDuringProcessing(t *testing.T) {
	tests := []struct {
		name, store, flying, script, want, why string
	}{
		{"relist lacks a newcomer", "", "+a1", "{@5}", "!a1 @5",
			"the store is about to hold a: without a tombstone it would hold it for ever"},
		{"relist lacks an update", "a1", "~a2", "{@5}", "!a2 @5",
			"the state that flies is newer than the store's"},
		{"relist lacks what is being deleted", "a1", "-a2", "{@5}", "@5",
			"the store still shows a, but it is about to go"},
		{"relist has what is being deleted", "a1", "-a2", "{a3 @5}", "=a3 @5",
			"it is there again"},
		{"relist keeps a newcomer", "", "+a1", "{@5 a}", "@5",
			"a couldn't be read"},
		{"delete of a newcomer", "", "+a1", "-a2", "-a2",
			"the store is about to hold it"},
		{"delete of what is being deleted", "a1", "-a2", "-a3", "@3",
			"it has been told"},
		{"update and relist", "a1", "~a2", "~a3 {@5}", "~a3 !a3 @5",
			"what waits is newer than what flies"},
		{"resync", "a1 b1", "~a2", "?? @5", "?b1 @5",
			"the store's state of a is old"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			f := NewDeltaFIFO(Options[obj]{KnownObjects: storeOf(tc.store)})
			run(t, f, tc.flying)
			must(t, f.PopBatch(t.Context(), func([]Delta[obj]) error {
				run(t, f, tc.script)
				checkInvariants(t, f)
				return nil
			}))
			if got := popText(t, f); got != tc.want {
				t.Errorf("got %s, want %s: %s", got, tc.want, tc.why)
			}

			// One object at a time, the same holds.
			f = NewDeltaFIFO(Options[obj]{KnownObjects: storeOf(tc.store)})
			run(t, f, tc.flying)
			must(t, f.Pop(t.Context(), func(Deltas[obj], bool) error {
				run(t, f, tc.script)
				checkInvariants(t, f)
				return nil
			}))
			if got := popText(t, f); got != tc.want {
				t.Errorf("with Pop: got %s, want %s: %s", got, tc.want, tc.why)
			}
		})
	}
}

func TestPopTakesTheObjectThatWaitedLongest(t *testing.T) {
	f := NewDeltaFIFO(Options[obj]{})
	run(t, f, "+a1 +b2 ~a3 +c4 -b5")
	array := f.waiting.keys
	for _, want := range []string{"+a1 ~a3", "+b2 -b5", "+c4"} {
		var got string
		must(t, f.Pop(t.Context(), func(d Deltas[obj], initial bool) error {
			got = text(d)
			if initial {
				t.Error("nothing was listed: no delta is of the initial list")
			}
			if o, n := text([]Delta[obj]{*d.Oldest(), *d.Newest()}), text([]Delta[obj]{d[0], d[len(d)-1]}); o != n {
				t.Errorf("oldest and newest: got %s, want %s", o, n)
			}
			return nil
		}))
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		checkInvariants(t, f)
	}
	if f.Depth() != 0 {
		t.Errorf("depth %d, want 0", f.Depth())
	}
	for _, key := range array {
		if key != (object.Key{}) {
			t.Errorf("Q10: the array still holds key %v", key)
		}
	}
	if d := (Deltas[obj]{}); d.Oldest() != nil || d.Newest() != nil {
		t.Error("an empty Deltas has an oldest or a newest")
	}
}

func TestTombstoneOfAVanishedObject(t *testing.T) {
	f := NewDeltaFIFO(Options[obj]{KnownObjects: vanishing{storeOf("a1")}})
	run(t, f, "{@2}")
	must(t, f.PopBatch(t.Context(), func(d []Delta[obj]) error {
		if got := text(d); got != "!a @2" {
			t.Errorf("got %s, want !a @2", got)
		}
		if d[0].Item.Object != nil {
			t.Error("the tombstone has an object that the store didn't give")
		}
		return nil
	}))
	run(t, f, "??")
	if f.Depth() != 0 {
		t.Error("Resync queued an object that the store didn't give")
	}
}

// vanishing lists keys whose objects it can't give.
type vanishing struct{ store }

func (vanishing) Item(object.Key) (object.Item[obj], bool) { return object.Item[obj]{}, false }

func TestAnItemNeedsAName(t *testing.T) {
	both(t, Options[obj]{}, func(t *testing.T, q Queue[obj]) {
		ctx := context.Background()
		for name, err := range map[string]error{
			"Add":    q.Add(ctx, object.Item[obj]{}),
			"Update": q.Update(ctx, object.Item[obj]{}),
			"Delete": q.Delete(ctx, object.Item[obj]{Key: object.Key{Namespace: "ns"}}),
			"Replace": q.Replace(ctx, List[obj]{
				Items: append(its("a1"), object.Item[obj]{})}),
		} {
			if !errorIs[*object.KeyError](err) {
				t.Errorf("%s: got %v, want a *object.KeyError", name, err)
			}
		}
		if q.Depth() != 0 || q.HasSynced() {
			t.Errorf("Q3: failed writes left depth %d, synced %v", q.Depth(), q.HasSynced())
		}
	})
}

func errorIs[E error](err error) bool { _, ok := errors.AsType[E](err); return ok }

func TestNames(t *testing.T) {
	want := "DeltaType(0) Added Updated Deleted Replaced Sync ReplacedAll SyncAll Bookmark DeltaType(9)"
	got := ""
	for i := range DeltaType(10) {
		got += fmt.Sprint(i) + " "
	}
	if got != want+" " {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestVersion(t *testing.T) {
	seven := object.Item[obj]{ResourceVersion: "7"}
	tests := []struct {
		d    Delta[obj]
		want string
		why  string
	}{
		{Delta[obj]{Type: Added, Item: seven}, "7", "a live event"},
		{Delta[obj]{Type: Updated, Item: seven}, "7", "a live event"},
		{Delta[obj]{Type: Deleted, Item: seven}, "7", "a live event has the deletion's version"},
		{Delta[obj]{Type: Bookmark, Item: seven}, "7", "it is all that a bookmark says"},
		{Delta[obj]{Type: ReplacedAll, List: &List[obj]{ResourceVersion: "7"}}, "7", "the list's"},
		{Delta[obj]{Type: Deleted, FinalStateUnknown: true, Item: seven}, "", "a tombstone has the version of the last state known"},
		{Delta[obj]{Type: Replaced, Item: seven}, "", "an item of a list may be older than the list"},
		{Delta[obj]{Type: Sync, Item: seven}, "", "a stored state, of any age"},
		{Delta[obj]{Type: SyncAll}, "", "it has none"},
	}
	for _, tc := range tests {
		if got := tc.d.Version(); got != tc.want {
			t.Errorf("%s: got %q, want %q: %s", text([]Delta[obj]{tc.d}), got, tc.want, tc.why)
		}
	}
}
