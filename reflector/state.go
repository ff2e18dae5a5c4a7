package reflector

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/object"
)

// The types of the state machine. All of them are plain comparable values:
// the machine holds no object, socket, timer or error, and step (step.go) is
// a pure function over them. The driver (reflector.go) does what it says.

// mode is where the machine stands: what it waits to hear of.
type mode uint8

const (
	modeStart    mode = iota
	modeList          // the answer to a page request
	modeOpenList      // whether the watch-list was accepted
	modeStage         // the next object of the watch-list, or its end marker
	modeOpen          // whether the watch was accepted
	modeStream        // the next event
	modeWait          // the end of a wait; state.after says what comes then
	modeStopped       // nothing: the run is over
)

// state is all that the machine knows.
type state struct {
	mode  mode
	after mode // in modeWait: modeList or modeOpen

	// progress is the version up to which the sink has everything, "" before
	// the first commit. It moves with applied events, bookmarks and commits,
	// and only a proven rollback moves it back (R3).
	progress string
	// atProgress is the key of the event that moved progress to where it is,
	// the zero Key when it was something else. It tells a replay of that event
	// from the deletion of another object in the same revision.
	atProgress object.Key

	failures int // failed attempts since the last success
	grown    int // how many times the backoff has grown since it was reset
	// fruitless counts the relists since progress last moved by a live event or
	// bookmark. From the second on they ask for the most recent state.
	fruitless int

	// noStreams: this server has shown that it knows no watch-lists. That is
	// remembered for the whole run.
	noStreams bool
	polling   polling
	tryWatch  time.Duration // with pollNoWatch: when a watch is tried again
	listed    time.Duration // when the last list was complete
	sure      time.Duration // when the server last showed that it has reached progress

	list   listState
	stream streamState
}

// listState is the list in flight.
type listState struct {
	reason  RelistReason
	rv      string // the version asked for: "0", progress, or "" for the most recent
	token   string // of the next page, "" for the first
	version string // the version of the pages so far, the oldest if they differ
	unpaged bool   // ask for everything at once: paging has failed

	// pages counts the tokens so far, and mark is the one whose number was last
	// a power of two: if tokens go round in a circle, of whatever length, it
	// comes again.
	pages int
	mark  string

	streamed bool // as a watch-list
	tries    int  // watch-lists of this list that failed
	// unversioned: a page had no version that can be ordered. Such a list can
	// only be polled.
	unversioned bool
	check       checking
}

// checking marks a list that is not made because the state was lost.
type checking uint8

const (
	checkNone  checking = iota
	checkProbe          // one object: is the server at progress at all?
	checkState          // everything exactly at progress: is it what the sink has?
	checkNewer          // everything at progress or later, since that version is gone
)

// polling says why there is no watch between the lists.
type polling uint8

const (
	pollNo        polling = iota
	pollNoVersion         // the lists have no version to watch from
	pollNoWatch           // the resource lacks the verb
)

// streamState is the open watch.
type streamState struct {
	opened time.Duration // when
	moved  bool          // progress has moved since
}

// input is one thing that happened, reduced to what decides. Which fields are
// set depends on kind.
type input struct {
	kind inputKind
	now  time.Duration // since the run began

	// inEvent
	event EventType
	key   object.Key

	rv     string // inPage: of the list; inEvent: of the event
	token  string // inPage: of the next page
	marker bool   // inEvent: the bookmark that ends the initial events

	// inFailed
	class      errorClass
	retryAfter time.Duration
}

type inputKind uint8

const (
	inStart  inputKind = iota
	inPage             // a page is complete and staged
	inOpened           // the watch was accepted
	inEvent            // an event, or a bookmark
	inEnded            // the stream ended cleanly
	inFailed           // the list, the opening or the stream failed
	inWaited           // the wait is over
)

// effect is what is to be done: first with the data at hand, then next.
type effect struct {
	data   dataEffect
	fault  fault        // why the step itself calls this a failure
	reason RelistReason // with dataCommit
	rv     string       // with dataCommit and dataBookmark

	next    action
	list    ListOptions   // with doList
	watch   string        // with doWatch: the version to watch from
	initial bool          // with doWatch: the state first, as a watch-list
	within  time.Duration // with doWatch: the longest that the watch may live; 0: no matter
	ceiling time.Duration // with doWait: a random part of this is waited,
	floor   time.Duration // after this
}

type dataEffect uint8

const (
	dataNone     dataEffect = iota
	dataDiscard             // forget the objects staged
	dataCommit              // hand the objects staged over as one list
	dataApply               // hand the event over
	dataBookmark            // hand the event's version over
	dataDrop                // count the event as dropped
	dataStage               // put the event's object to the list in flight
	dataFresh               // nothing: the server says that there is nothing new
)

// fault is a failure that no error came with: the machine's own judgement.
type fault uint8

const (
	faultNone      fault = iota
	faultNoVersion       // a list without a usable version
	faultLoop            // pages that lead back to one of them
	faultEmpty           // a watch that ended at once, without an event
	faultUnplaced        // an event without a usable version
	faultUnmarked        // a watch-list that ended before its marker
	faultForeign         // an event that has no place before the marker
)

type action uint8

const (
	doList  action = iota + 1 // fetch a page
	doWatch                   // close the stream, open another
	doRead                    // read the next event
	doWait                    // close the stream, wait
	doStop                    // close the stream, return the error at hand
)

// policy is the part of Options that decides.
type policy struct {
	pageSize int64 // 0: no paging
	backoff  Backoff
	failFast bool
	// short is how long an empty stream must have lived to be followed by
	// another at once.
	short time.Duration

	streams bool          // watch-lists may be asked for
	poll    time.Duration // the pause between polls; 0: polling isn't allowed
	verify  time.Duration // the pause between verifications; 0: none
}

// request is the list request that the state stands for.
func (p policy) request(l listState) ListOptions {
	o := ListOptions{ResourceVersion: l.rv, Continue: l.token, Limit: p.pageSize}
	switch {
	case l.check == checkProbe:
		o.Limit = 1
	case l.unpaged:
		o.Limit = 0
	}
	switch {
	case l.token != "":
		o.ResourceVersion = "" // the token carries it
	case l.check == checkState:
		o.ResourceVersionMatch = metav1.ResourceVersionMatchExact
	case l.rv != "":
		o.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	}
	return o
}
