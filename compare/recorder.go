package compare

import (
	"sync"
	"sync/atomic"
	"time"
)

// recorder is the handler's side of every subject: it notes what was told and
// when. The same for all (M6).
type recorder struct {
	recording atomic.Bool   // from the first sync on
	calls     atomic.Uint64 // all, also before

	mu  sync.Mutex
	log []Told // guarded by mu
}

func (r *recorder) tell(s State) {
	now := time.Now().UnixNano()
	r.calls.Add(1)
	if !r.recording.Load() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, Told{State: s, At: now})
}

func (r *recorder) set(uid, resourceVersion string) {
	r.tell(State{UID: uid, ResourceVersion: resourceVersion})
}

func (r *recorder) deleted(uid string) {
	r.tell(State{UID: uid, Deleted: true})
}

func (r *recorder) told() []Told {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Told(nil), r.log...)
}
