package deltafifo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"informer.example/object"
)

// program runs the same random writes and pops on a queue and on its oracle,
// and compares them at every step. A store is kept from what is handed over;
// the server's truth is kept beside it.
//
// The server's objects change with every write. Some changes are missed, as by
// a watch that was cut, and seen with the next list only.
type program struct {
	t      *testing.T
	code   []byte
	q      Queue[obj]
	oracle oracle
	store  store // shared with q and oracle as KnownObjects
	truth  store
	missed bool
	rv     int
	kept   map[object.Key]bool // unreadable in the last list: any state will do
	depth  int                 // of nested pops: 0 or 1
	log    []string
}

func runProgram(t *testing.T, code []byte, classic bool) {
	p := &program{t: t, code: code, store: store{}, truth: store{}, kept: map[object.Key]bool{}}
	opts := Options[obj]{MaxDepth: 1 << 20, KnownObjects: p.store}
	if classic {
		p.q, p.oracle = NewDeltaFIFO(opts), &fifoOracle{store: p.store}
	} else {
		p.q, p.oracle = NewInOrder(opts), &inOrderOracle{}
	}
	for len(p.code) > 0 {
		p.step()
	}
	p.converge()
}

func (p *program) next() int {
	if len(p.code) == 0 {
		return 0
	}
	b := p.code[0]
	p.code = p.code[1:]
	return int(b)
}

func (p *program) fatalf(format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf("%s\nafter %v", fmt.Sprintf(format, args...), p.log)
}

func (p *program) step() {
	ctx := p.t.Context()
	key := string(rune('a' + p.next()%5))
	var err error
	switch op := p.next() % 16; op {
	case 0, 1, 2, 3:
		err = p.change(key, false)
	case 4:
		err = p.change(key, true)
	case 5, 6, 7:
		err = p.delete(key, false)
	case 8:
		err = p.delete(key, true)
	case 9, 10:
		err = p.list(p.next())
	case 11:
		p.log = append(p.log, "@")
		p.oracle.bookmark(fmt.Sprint(p.rv))
		err = p.q.Bookmark(ctx, fmt.Sprint(p.rv))
	case 12:
		p.log = append(p.log, "??")
		p.oracle.resync()
		err = p.q.Resync(ctx)
	case 13:
		p.pop(true)
	default:
		p.pop(false)
	}
	if err != nil {
		p.fatalf("a write failed: %v", err)
	}
	p.check()
}

func (p *program) version() string { p.rv++; return fmt.Sprint(p.rv) }

// change sets an object at the server, and tells the queue unless it is missed.
func (p *program) change(key string, missed bool) error {
	item := it(key, p.version())
	d := Delta[obj]{Type: Updated, Item: item}
	if _, ok := p.truth[item.Key]; !ok {
		d.Type = Added
	}
	p.truth[item.Key] = item
	return p.tell(d, missed)
}

func (p *program) delete(key string, missed bool) error {
	item := it(key, p.version())
	if _, ok := p.truth[item.Key]; !ok {
		return nil // it doesn't exist: no watch tells of its deletion
	}
	delete(p.truth, item.Key)
	return p.tell(Delta[obj]{Type: Deleted, Item: item}, missed)
}

func (p *program) tell(d Delta[obj], missed bool) error {
	// A watch that was cut stays so until the next list, or there would be
	// nothing to find out by it.
	if p.missed = p.missed || missed; p.missed {
		return nil
	}
	delete(p.kept, d.Item.Key)
	p.log = append(p.log, text([]Delta[obj]{d}))
	p.oracle.write(d)
	switch d.Type {
	case Added:
		return p.q.Add(p.t.Context(), d.Item)
	case Updated:
		return p.q.Update(p.t.Context(), d.Item)
	}
	return p.q.Delete(p.t.Context(), d.Item)
}

// list replaces by the truth. Some of it may be unreadable.
func (p *program) list(unreadable int) error {
	l := List[obj]{ResourceVersion: p.version()}
	p.missed = false
	clear(p.kept)
	i := 0
	for key := range p.truth.Keys() {
		if i++; unreadable%7 == i {
			l.Keep = append(l.Keep, key)
			p.kept[key] = true
			continue
		}
		l.Items = append(l.Items, p.truth[key])
	}
	p.log = append(p.log, text([]Delta[obj]{{Type: ReplacedAll, List: &l}}))
	p.oracle.replace(l)
	return p.q.Replace(p.t.Context(), l)
}

// pop processes what waits, or one key of it. More writes come while process
// runs, before and after the store has got the deltas.
func (p *program) pop(one bool) {
	fifo, classic := p.q.(*DeltaFIFO[obj])
	if p.depth > 0 || p.oracle.depth() == 0 {
		return
	}
	p.depth++
	defer func() { p.depth-- }()
	process := func(got, want []Delta[obj]) error {
		if !slices.EqualFunc(got, want, sameDelta) {
			p.fatalf("got  %s\nwant %s", text(got), text(want))
		}
		p.writes(p.next() % 3)
		for _, d := range got {
			p.apply(d)
			if p.next()%4 == 0 {
				p.writes(1)
			}
		}
		p.writes(p.next() % 3)
		return nil
	}
	var err error
	if one && classic {
		p.log = append(p.log, "Pop<")
		want := p.oracle.takeKey()
		err = fifo.Pop(p.t.Context(), func(got Deltas[obj], initial bool) error {
			if initial == p.oracle.synced() {
				p.fatalf("isInInitialList is %v, synced %v", initial, p.oracle.synced())
			}
			return process(got, want)
		})
	} else {
		p.log = append(p.log, "PopBatch<")
		want := p.oracle.takeAll()
		err = p.q.PopBatch(p.t.Context(), func(got []Delta[obj]) error { return process(got, want) })
	}
	p.oracle.landed()
	p.log = append(p.log, ">")
	if err != nil {
		p.fatalf("popping failed: %v", err)
	}
}

func (p *program) writes(n int) {
	for range n {
		if len(p.code) > 0 {
			p.step()
		}
	}
}

// apply checks that a DeltaFIFO's deletions are of objects that are there
// (Q8, Q9), and applies the delta.
func (p *program) apply(d Delta[obj]) {
	if _, classic := p.q.(*DeltaFIFO[obj]); classic && d.Type == Deleted {
		last, ok := p.store[d.Item.Key]
		if !ok {
			p.fatalf("Q8, Q9: %s is of an object that isn't stored", text([]Delta[obj]{d}))
		}
		if d.FinalStateUnknown && last != d.Item {
			p.fatalf("Q9: the tombstone has version %s, the store %s", d.Item.ResourceVersion, last.ResourceVersion)
		}
	}
	p.store.apply(d)
}

func (p *program) check() {
	p.t.Helper()
	checkInvariants(p.t, p.q)
	if p.t.Failed() {
		p.fatalf("an invariant is broken")
	}
	if got, want := p.q.Depth(), p.oracle.depth(); got != want {
		p.fatalf("depth %d, want %d", got, want)
	}
	if got, want := p.q.HasSynced(), p.oracle.synced(); got != want {
		p.fatalf("synced %v, want %v", got, want)
	}
}

// converge lists if something was missed, drains, and compares the store with
// the server.
func (p *program) converge() {
	if p.missed {
		_ = p.list(0)
	}
	for p.oracle.depth() > 0 {
		p.pop(false)
		p.check()
	}
	for key := range p.kept {
		delete(p.store, key)
		delete(p.truth, key)
	}
	if len(p.store) != len(p.truth) {
		p.fatalf("Q1: the store has %d objects, the server %d", len(p.store), len(p.truth))
	}
	for key, item := range p.truth {
		if p.store[key] != item {
			p.fatalf("Q1: %v: the store has %s, the server %s", key, p.store[key].ResourceVersion, item.ResourceVersion)
		}
	}
}

func sameDelta(a, b Delta[obj]) bool {
	if a.List != nil && b.List != nil {
		same := slices.Equal(a.List.Items, b.List.Items) && slices.Equal(a.List.Keep, b.List.Keep) &&
			a.List.ResourceVersion == b.List.ResourceVersion
		a.List, b.List = nil, nil
		return same && a == b
	}
	return a == b
}

func TestRandomPrograms(t *testing.T) {
	n := 800
	if testing.Short() {
		n = 200
	}
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 1))
		code := make([]byte, 20+r.IntN(300))
		for i := range code {
			code[i] = byte(r.Uint32())
		}
		for _, classic := range []bool{false, true} {
			runProgram(t, code, classic)
			if t.Failed() {
				t.Fatalf("seed %d, classic %v", seed, classic)
			}
		}
	}
}

func FuzzPrograms(f *testing.F) {
	f.Add([]byte("\x00\x00\x01\x00\x00\x0e"), false)
	f.Add([]byte("\x00\x09\x00\x00\x04\x00\x09\x00\x00\x0e"), true)
	f.Fuzz(func(t *testing.T, code []byte, classic bool) {
		if len(code) > 2000 {
			t.Skip("long programs find nothing that short ones don't")
		}
		runProgram(t, code, classic)
	})
}
