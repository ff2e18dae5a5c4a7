package reflector

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

func endMarker(rv string) Event[obj] {
	ev := bookmark(rv)
	ev.InitialEventsEnd = true
	return ev
}

// TestF35_WatchListCut: a watch-list that ends before its marker changes
// nothing; the next one commits, and goes on as the watch.
func TestF35_WatchListCut(t *testing.T) {
	f := &fake{watches: []fakeStream{
		{events: []Event[obj]{added("x", "4")}, every: time.Second, end: io.EOF},
		{events: []Event[obj]{added("a", "7"), added("b", "5"), endMarker("10"), added("c", "11")}, every: time.Second},
	}}
	sink, status := driveStreams(t, f, Options{}, time.Minute)
	same(t, "sink", sink.log(), "replace 2 items at 10", "ADDED c at 11")
	if status.Lists != 2 || status.WatchLists != 2 || status.Watches != 2 || status.Phase != Watching || status.LastError != nil {
		t.Errorf("status %+v", status)
	}
}

// TestF39_WatchListInvalid: an old server is asked once, and never again.
func TestF39_WatchListInvalid(t *testing.T) {
	f := &fake{lists: []fakePage{onePage, onePage}, watches: []fakeStream{{err: refusal(422, "Invalid")}, {end: errGone}, {}}}
	sink, status := driveStreams(t, f, Options{}, time.Minute)
	same(t, "sink", sink.log(), "replace 2 items at 10", "replace 2 items at 10 because Expired")
	if status.WatchLists != 1 || status.Lists != 3 {
		t.Errorf("status %+v", status)
	}
}

// TestF43_MarkerWithheld: after a minute of silence the state comes in pages.
func TestF43_MarkerWithheld(t *testing.T) {
	f := &fake{lists: []fakePage{onePage}, watches: []fakeStream{{}, {}}}
	sink, status := driveStreams(t, f, Options{}, 59*time.Second)
	if same(t, "sink", sink.log()); status.Phase != Listing {
		t.Errorf("before the minute: %+v", status)
	}
	f = &fake{lists: []fakePage{onePage}, watches: []fakeStream{{}, {}}}
	sink, _ = driveStreams(t, f, Options{}, 62*time.Second)
	same(t, "sink", sink.log(), "replace 2 items at 10")
}

// TestF02_WatchNeverAccepted: an answer that doesn't begin is given up.
func TestF02_WatchNeverAccepted(t *testing.T) {
	f := &fake{lists: []fakePage{onePage}}
	_, status := drive(t, f, Options{}, 31*time.Second)
	if status.Watches != 2 || status.Lists != 1 {
		t.Errorf("status %+v", status)
	}
}

// TestF03_IdleWatch: with an idle limit, silence ends a watch early.
func TestF03_IdleWatch(t *testing.T) {
	f := &fake{lists: []fakePage{onePage}, watches: []fakeStream{{events: []Event[obj]{added("c", "11")}, every: time.Minute}, {}}}
	sink, status := drive(t, f, Options{IdleTimeout: 90 * time.Second}, 2*time.Minute+31*time.Second)
	same(t, "sink", sink.log(), "replace 2 items at 10", "ADDED c at 11")
	if status.Watches != 2 || status.Lists != 1 {
		t.Errorf("status %+v", status)
	}
}

// TestF49_LeaseDeletions: a lease's objects are deleted in one version. Whole,
// the group is applied. Cut in the middle, its rest is lost to the watch that
// resumes at that version; only the verification list shows it, no later than
// VerifyEvery and the end of a watch.
func TestF49_LeaseDeletions(t *testing.T) {
	whole := &fake{lists: []fakePage{onePage}, watches: []fakeStream{{events: []Event[obj]{deleted("a", "11"), deleted("b", "11")}}}}
	sink, _ := drive(t, whole, Options{}, time.Minute)
	same(t, "sink", sink.log(), "replace 2 items at 10", "DELETED a at 11", "DELETED b at 11")

	cut := &fake{
		lists: []fakePage{onePage, {meta: ListMeta{ResourceVersion: "11"}}, {meta: ListMeta{ResourceVersion: "11"}}}, // the second answers a probe
		watches: []fakeStream{
			{events: []Event[obj]{deleted("a", "11")}, end: errReset},
			{}, {},
		},
	}
	sink, status := drive(t, cut, Options{VerifyEvery: 10 * time.Minute}, 30*time.Minute)
	same(t, "sink", sink.log(), "replace 2 items at 10", "DELETED a at 11", "replace 0 items at 11 because Verify")
	if status.Relists[RelistVerify] != 1 {
		t.Errorf("status %+v", status)
	}
}

// TestVerificationsThatFail: a server that can't list at an exact version must
// not keep the sink from its changes. Verification followed verification, with
// no watch between them, for as long as they failed.
func TestVerificationsThatFail(t *testing.T) {
	f := &fake{lists: []fakePage{onePage}, watches: []fakeStream{{events: []Event[obj]{added("c", "11")}, every: 30 * time.Second, end: io.EOF}}}
	const failed = 5
	for n := range failed {
		f.lists = append(f.lists, fakePage{err: refusal(http.StatusInternalServerError, metav1.StatusReasonInternalError)})
		f.watches = append(f.watches, fakeStream{events: []Event[obj]{added("d", strconv.Itoa(12+n))}, every: 45 * time.Second, end: io.EOF})
	}
	sink, status := drive(t, f, Options{VerifyEvery: time.Minute, Rand: func() float64 { return 1 }}, 20*time.Minute)
	if status.ResourceVersion != "16" || len(f.lists) > 0 {
		t.Errorf("%d changes arrived, %d verifications weren't tried: %+v", len(sink.log())-2, len(f.lists), status)
	}
}

// TestPolling: a resource without versions is listed again and again; what is
// equal is handed over as the same object.
func TestPolling(t *testing.T) {
	without := func(names ...string) fakePage {
		var p fakePage
		for _, name := range names {
			p.items = append(p.items, item(name, ""))
		}
		return p
	}
	f := &fake{lists: []fakePage{without("a", "b"), without("a", "c")}}
	sink, status := drive(t, f, Options{PollInterval: time.Minute}, 70*time.Second)
	same(t, "sink", sink.log(), "replace 2 items at ", "replace 2 items at  because Poll")
	if status.Phase != Polling || status.LastError != nil || status.Lists != 2 || status.Relists[RelistPoll] != 1 {
		t.Errorf("status %+v", status)
	}
	before := List[obj]{Items: []object.Item[obj]{item("a", "")}}
	var p polled[obj]
	p.settle(&before)
	after := List[obj]{Items: []object.Item[obj]{item("a", "")}}
	p.settle(&after)
	if before.Items[0].Object != after.Items[0].Object || !before.Items[0].SameVersion(after.Items[0]) {
		t.Error("equal objects aren't taken for the same")
	}
}

// TestAge: the data is as old as the last word of a server on it.
func TestAge(t *testing.T) {
	f := &fake{lists: []fakePage{onePage}, watches: []fakeStream{{events: []Event[obj]{bookmark("12"), bookmark("12")}, every: 20 * time.Second}}}
	_, status := drive(t, f, Options{}, time.Minute)
	if age := status.Age(status.FreshAt.Add(20 * time.Second)); age != 20*time.Second {
		t.Errorf("age %v", age)
	}
	if since := status.FreshAt.Sub(status.Since); since != 40*time.Second {
		t.Errorf("fresh %v after the watch began", since)
	}
}

// TestIdleLimitIsTheServers: the time that the sink takes for an event isn't
// silence of the server. A sink that was slower than the limit had each watch
// taken for dead after one event.
func TestIdleLimitIsTheServers(t *testing.T) {
	f := &fake{watches: []fakeStream{{events: []Event[obj]{added("a", "7"), endMarker("10"), added("c", "11"), added("d", "12")}, every: time.Second}}}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		sink := newRecorder[obj]()
		sink.block = func(context.Context) { time.Sleep(time.Minute) }
		r := New(f, sink, Options{IdleTimeout: 30 * time.Second, MarkerTimeout: 40 * time.Second})
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		time.Sleep(3*time.Minute + 20*time.Second)
		if status := r.Status(); status.ResourceVersion != "12" || status.Watches != 1 || status.LastError != nil {
			t.Errorf("a slow sink: %+v", status)
		}
		time.Sleep(15 * time.Second)
		if status := r.Status(); !errors.Is(status.LastError, errSilent) {
			t.Errorf("a silent server: %+v", status)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
