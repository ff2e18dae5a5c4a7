package invariant

import (
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim/fault"
	"informer.example/object"
)

// wireView is what the requests and answers so far amount to.
type wireView struct {
	used   bool
	opaque bool // something couldn't be looked into
	open   []*exchange

	delivered map[string]bool // versions that a watch may begin at
	newest    string          // of them
	behind    map[string]bool // versions that came behind a frame that couldn't be read
	tokens    map[string]bool // tokens that came with a 410
	oldest    string          // version of the pages of the present list

	states int  // whole states sent
	inSync bool // a state is being asked for
	cause  bool // there is a reason to ask for it again

	refusedSync string // the version at which the last state was refused
	refusedHow  string
	mustSync    bool   // a watch was refused for its version
	notAt       string // the version that was too large

	notBefore time.Time   // by Retry-After
	vain      []time.Time // attempts in a row that brought nothing
}

func newWireView() wireView {
	return wireView{delivered: map[string]bool{}, behind: map[string]bool{}, tokens: map[string]bool{}}
}

// judge holds a request against what came before it. Called with mu.
func (c *Checker) judge(x *exchange) {
	w := &c.wire
	if !w.notBefore.IsZero() {
		switch early, late := w.notBefore.Sub(x.began), x.began.Sub(w.notBefore); {
		case early > 0:
			c.broken("I10", "a %s comes %v earlier than Retry-After asked", opName(x.op), early)
		case late > c.opts.MaxWait+time.Second:
			c.broken("I10", "a %s comes %v after what Retry-After asked", opName(x.op), late)
		}
		w.notBefore = time.Time{}
	}
	if x.token != "" && w.tokens[x.token] {
		c.broken("I5", "a list goes on with the token of a 410")
	}
	switch {
	case x.probe:
	case x.op == fault.Watch:
		c.judgeWatch(x)
	case x.token == "":
		c.judgeSync(x)
	}
}

func (c *Checker) judgeWatch(x *exchange) {
	w := &c.wire
	switch {
	case w.mustSync:
		c.broken("I5", "a watch from version %s, after one was refused for its version", x.rv)
	case w.opaque || w.delivered[x.rv]:
	case w.behind[x.rv]:
		c.broken("I13", "a watch from version %s, which came behind a frame that can't be read", x.rv)
	default:
		c.broken("I3", "a watch from version %s, which was never delivered", x.rv)
	}
	w.inSync = false
}

func (c *Checker) judgeSync(x *exchange) {
	w := &c.wire
	switch {
	case x.rv == "" || x.rv == "0":
	case x.rv == w.refusedSync:
		c.broken("I5", "the state at version %s is asked for again, which was %s", x.rv, w.refusedHow)
	case x.rv == w.notAt:
		c.broken("I5", "the state at version %s is asked for, which was too large", x.rv)
	}
	rolledBack := c.rolledBack()
	if w.states > 0 && !w.inSync && !w.cause && !w.opaque && !c.opts.Verify && !rolledBack {
		c.broken("I4", "the state is asked for again (from version %q) without a reason", x.rv)
	}
	w.inSync, w.cause, w.mustSync, w.notAt = true, false, false, ""
}

// refused notes an error in place of an answer, or in a stream.
func (c *Checker) refused(x *exchange, st metav1.Status) {
	w := &c.wire
	tooLarge := st.Details != nil && len(st.Details.Causes) > 0 && st.Details.Causes[0].Type == metav1.CauseTypeResourceVersionTooLarge
	expired := st.Code == http.StatusGone
	if tooLarge {
		w.notBefore = time.Time{} // it is about that version; another may be asked for at once
	}
	if st.Continue != "" && expired {
		w.tokens[st.Continue] = true
	}
	switch {
	case x.probe:
		w.cause = w.cause || tooLarge || expired
	case x.op == fault.Watch || x.marked:
		if expired || tooLarge {
			w.mustSync, w.cause = true, true
			if tooLarge {
				w.notAt = x.rv
			}
		} else if st.Code >= 400 && st.Code < 500 {
			w.cause = true // the request itself may be what is wrong
		}
	case expired && x.token == "":
		w.refusedSync, w.refusedHow = x.rv, "expired"
	case tooLarge:
		w.refusedSync, w.refusedHow = x.rv, "too large"
	}
}

// page notes a list that has ended. A whole one whose page is the last is a
// state.
func (c *Checker) page(x *exchange, clean bool) {
	if x.opaque {
		return
	}
	meta, ok := listMeta(x.list.Bytes())
	if !ok || !clean {
		return
	}
	x.delivered++ // it has brought something
	// Pages of several versions are a list of the oldest.
	if w := &c.wire; x.token == "" || object.Newer(w.oldest, meta.ResourceVersion) {
		w.oldest = meta.ResourceVersion
	}
	if meta.Continue == "" && !x.probe {
		c.whole(c.wire.oldest)
	}
}

// whole notes that a whole state was sent. One without a usable version, or from
// before what the client has, is none that it may take.
func (c *Checker) whole(rv string) {
	w := &c.wire
	if _, err := object.CompareVersions(rv, rv); err != nil || object.Newer(w.newest, rv) && !c.rolledBack() {
		return
	}
	w.states++
	w.inSync, w.refusedSync = false, ""
	w.deliver(rv)
}

func (w *wireView) deliver(rv string) {
	w.delivered[rv] = true
	if w.newest == "" || object.Newer(rv, w.newest) {
		w.newest = rv
	}
}

// frame notes a frame of a watch.
func (c *Checker) frame(x *exchange, f fault.Frame) {
	w := &c.wire
	if st, is := f.Status(); is {
		c.refused(x, st)
		return
	}
	rv := f.Meta().ResourceVersion
	switch {
	case x.unread:
		w.behind[rv] = true
	case f.Type == "":
		x.unread = true
		w.cause = w.cause || x.op == fault.Watch || x.marked
	case x.op == fault.WatchList && !x.marked:
		if f.Marker() {
			x.marked = true
			x.delivered++
			c.whole(rv)
		}
	default:
		x.delivered++
		w.deliver(rv)
	}
}

// window is that of Options.Burst.
const window = 10 * time.Second

// fruitless notes an attempt that has brought nothing.
func (w *wireView) fruitless(began time.Time, c *Checker) {
	w.vain = append(w.vain, began)
	recent := w.vain[:0]
	for _, t := range w.vain {
		if began.Sub(t) < window {
			recent = append(recent, t)
		}
	}
	w.vain = recent
	if len(recent) > c.opts.Burst {
		c.broken("I10", "%d attempts within ten seconds brought nothing", len(recent))
		w.vain = nil
	}
}
