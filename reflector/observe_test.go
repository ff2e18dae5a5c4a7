package reflector

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"informer.example/object"
)

// TestOnStatus: each change of the phase or the error is told, in order.
func TestOnStatus(t *testing.T) {
	var told []string
	o := Options{OnStatus: func(s Status) {
		told = append(told, fmt.Sprintf("%s %v %d", s.Phase, s.LastError, s.Attempts))
	}}
	f := &fake{
		lists: []fakePage{{err: errReset}, {err: errReset}, onePage},
		watches: []fakeStream{
			{events: []Event[obj]{added("c", "11"), added("d", "12")}, every: time.Second, end: io.EOF},
			{every: 10 * time.Second, end: errReset},
			{events: []Event[obj]{added("e", "13")}},
		},
	}
	drive(t, f, o, time.Minute)
	same(t, "told", told,
		"Listing <nil> 0",
		"Waiting connection reset 1",
		"Listing connection reset 1",
		"Waiting connection reset 2",
		"Listing connection reset 2",
		"Watching <nil> 0",
		"Waiting connection reset 1",
		"Watching connection reset 1",
		"Watching <nil> 0",
		"Stopped <nil> 0",
	)
}

// TestQuarantinedEvents: what can't be used isn't applied, and is no reason to
// stop; a deletion needs no object.
func TestQuarantinedEvents(t *testing.T) {
	spoil := func(ev Event[obj]) Event[obj] {
		ev.Item.Object, ev.Quarantined = nil, errors.New("transform: no")
		return ev
	}
	var told []string
	o := Options{OnQuarantine: func(q Quarantine) { told = append(told, fmt.Sprint(q.Key, "@", q.ResourceVersion, " ", q.Err)) }}
	first := onePage
	first.meta.Quarantined = []Quarantine{{Key: object.Key{Name: "z"}, ResourceVersion: "9", Err: errors.New("bad")}}
	f := &fake{
		lists:   []fakePage{first},
		watches: []fakeStream{{events: []Event[obj]{spoil(added("c", "11")), spoil(deleted("a", "12"))}}},
	}
	sink, status := drive(t, f, o, time.Minute)
	same(t, "sink", sink.log(), "replace 2 items at 10 keep [z]", "DELETED a at 12")
	same(t, "told", told, "z@9 bad", "c@11 transform: no", "a@12 transform: no")
	if status.Quarantined != 3 || status.ResourceVersion != "12" || status.LastError != nil {
		t.Errorf("status %+v", status)
	}
}

// TestProbeEndsTrouble: a quiet watch broke, and the probe that followed says
// that all is well. The attempts were forgotten then, but not the error.
func TestProbeEndsTrouble(t *testing.T) {
	f := &fake{lists: []fakePage{onePage, onePage}, watches: []fakeStream{{every: 5 * time.Minute, end: errReset}, {}}}
	_, status := drive(t, f, Options{}, 6*time.Minute)
	if status.Watches != 2 || status.Attempts != 0 || status.LastError != nil || !status.FailingSince.IsZero() {
		t.Errorf("status %+v", status)
	}
}

// TestStatusIsACopy: what a caller does with it is nobody's business.
func TestStatusIsACopy(t *testing.T) {
	f := &fake{lists: []fakePage{onePage, onePage}, watches: []fakeStream{{end: errGone}, {}}}
	synctest.Test(t, func(t *testing.T) {
		r := startSource[obj](t, nil, f, Options{WatchList: WatchListNever})
		time.Sleep(time.Minute)
		r.Status().Relists[RelistExpired] = 100
		if n := r.Status().Relists[RelistExpired]; n != 1 {
			t.Errorf("%d relists", n)
		}
		r.end()
	})
}
