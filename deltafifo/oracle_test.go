package deltafifo

import (
	"slices"

	"informer.example/object"
)

// oracle says what a queue must hand over, in the plainest way: a flat list of
// what waits, searched from end to end.
type oracle interface {
	write(Delta[obj])
	replace(List[obj])
	bookmark(rv string)
	resync()
	depth() int
	takeAll() []Delta[obj] // starts processing
	takeKey() []Delta[obj] // the same for one key; DeltaFIFO only
	landed()               // processing has ended
	synced() bool
}

type inOrderOracle struct {
	waiting, flying []Delta[obj]
	written, done   bool
}

func (o *inOrderOracle) write(d Delta[obj]) {
	o.waiting = append(o.waiting, d)
	o.done = o.done || !o.written
	o.written = true
}

func (o *inOrderOracle) replace(l List[obj]) {
	o.waiting = append(o.waiting, Delta[obj]{Type: ReplacedAll, Initial: !o.written, List: &l})
	o.written = true
}

func (o *inOrderOracle) bookmark(rv string) {
	d := Delta[obj]{Type: Bookmark, Item: object.Item[obj]{ResourceVersion: rv}}
	if n := len(o.waiting); n > 0 && o.waiting[n-1].Type == Bookmark {
		o.waiting[n-1] = d
	} else {
		o.waiting = append(o.waiting, d)
	}
}

func (o *inOrderOracle) resync()    { o.waiting = append(o.waiting, Delta[obj]{Type: SyncAll}) }
func (o *inOrderOracle) depth() int { return len(o.waiting) }

func (o *inOrderOracle) takeAll() []Delta[obj] {
	o.flying, o.waiting = o.waiting, nil
	return o.flying
}

func (o *inOrderOracle) takeKey() []Delta[obj] { panic("not in order") }

func (o *inOrderOracle) landed() {
	o.done = o.done || slices.ContainsFunc(o.flying, isInitial)
	o.flying = nil
}

func (o *inOrderOracle) synced() bool { return o.done }

func isInitial(d Delta[obj]) bool { return d.Initial }

type fifoOracle struct {
	store           store
	waiting, flying []Delta[obj]
	version         string
	written, done   bool
}

// of returns the deltas of a key among others.
func of(deltas []Delta[obj], key object.Key) []Delta[obj] {
	return slices.DeleteFunc(slices.Clone(deltas), func(d Delta[obj]) bool { return d.Item.Key != key })
}

func (o *fifoOracle) push(d Delta[obj]) {
	same := of(o.waiting, d.Item.Key)
	if n := len(same); n > 0 && same[n-1].Type == Deleted && d.Type == Deleted {
		last := same[n-1]
		if last.FinalStateUnknown && !d.FinalStateUnknown {
			d.Initial = last.Initial
			o.waiting[slices.Index(o.waiting, last)] = d
		}
		return
	}
	o.waiting = append(o.waiting, d)
}

// after returns what the store will hold once all that was taken or waits is
// applied.
func (o *fifoOracle) after(waiting bool) store {
	s := store{}
	for k, item := range o.store {
		s[k] = item
	}
	deltas := o.flying
	if waiting {
		deltas = slices.Concat(o.flying, o.waiting)
	}
	for _, d := range deltas {
		s.apply(d)
	}
	return s
}

func (o *fifoOracle) write(d Delta[obj]) {
	_, stored := o.after(false)[d.Item.Key]
	if d.Type != Deleted || stored || len(of(o.waiting, d.Item.Key)) > 0 {
		o.push(d)
	}
	o.version = d.Item.ResourceVersion
	o.done = o.done || !o.written
	o.written = true
}

func (o *fifoOracle) replace(l List[obj]) {
	first := !o.written
	for _, item := range l.Items {
		o.push(Delta[obj]{Type: Replaced, Initial: first, Item: item})
	}
	after := o.after(true)
	for _, key := range o.tombstoneOrder() {
		listed := slices.ContainsFunc(l.Items, func(it object.Item[obj]) bool { return it.Key == key })
		if last, ok := after[key]; ok && !listed && !slices.Contains(l.Keep, key) {
			o.push(Delta[obj]{Type: Deleted, FinalStateUnknown: true, Initial: first, Item: last})
		}
	}
	o.version = l.ResourceVersion
	o.written = true
	o.done = o.done || first && len(o.waiting) == 0
}

// tombstoneOrder is: what waits, what flies, what is stored.
func (o *fifoOracle) tombstoneOrder() []object.Key {
	var keys []object.Key
	add := func(k object.Key) {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	for _, d := range slices.Concat(o.waiting, o.flying) {
		add(d.Item.Key)
	}
	for k := range o.store.Keys() {
		add(k)
	}
	return keys
}

func (o *fifoOracle) bookmark(rv string) { o.version = rv }

func (o *fifoOracle) resync() {
	for k := range o.store.Keys() {
		if len(of(o.waiting, k)) == 0 && len(of(o.flying, k)) == 0 {
			o.push(Delta[obj]{Type: Sync, Item: o.store[k]})
		}
	}
}

func (o *fifoOracle) depth() int { return len(o.waiting) }

func (o *fifoOracle) takeAll() []Delta[obj] {
	o.flying = nil
	for len(o.waiting) > 0 {
		o.takeFirst()
	}
	batch := slices.Clone(o.flying)
	if v := o.version; v != "" {
		if n := len(batch); n == 0 || batch[n-1].Version() != v {
			batch = append(batch, Delta[obj]{Type: Bookmark, Item: object.Item[obj]{ResourceVersion: v}})
		}
	}
	o.version = ""
	return batch
}

func (o *fifoOracle) takeKey() []Delta[obj] {
	o.flying = nil
	o.takeFirst()
	return o.flying
}

func (o *fifoOracle) takeFirst() {
	key := o.waiting[0].Item.Key
	o.flying = append(o.flying, of(o.waiting, key)...)
	o.waiting = slices.DeleteFunc(o.waiting, func(d Delta[obj]) bool { return d.Item.Key == key })
}

func (o *fifoOracle) landed() {
	o.done = o.done || slices.ContainsFunc(o.flying, isInitial) && !slices.ContainsFunc(o.waiting, isInitial)
	o.flying = nil
}

func (o *fifoOracle) synced() bool { return o.done }

// apply does to the store what a consumer does with a delta.
func (s store) apply(d Delta[obj]) {
	switch d.Type {
	case Added, Updated, Replaced, Sync:
		s[d.Item.Key] = d.Item
	case Deleted:
		delete(s, d.Item.Key)
	case ReplacedAll:
		kept := store{}
		for _, key := range d.List.Keep {
			if item, ok := s[key]; ok {
				kept[key] = item
			}
		}
		clear(s)
		for _, item := range d.List.Items {
			s[item.Key] = item
		}
		for k, item := range kept {
			s[k] = item
		}
	}
}
