package apisim

import (
	"iter"
	"slices"
	"strings"
)

// entry is one key of a table with its newest version; nil head is never stored.
type entry struct {
	key  string
	head *revision
}

// keyList holds entries in byte order of their keys, the order of the real
// server's storage. It is a list of short sorted runs, so that an insertion
// moves at most one run. Guarded by store.mu.
type keyList struct {
	runs [][]*entry // no run is empty
}

const maxRun = 512

// seek returns the place of the first entry with a key >= key.
func (l *keyList) seek(key string) (run, at int) {
	run, _ = slices.BinarySearchFunc(l.runs, key, func(r []*entry, k string) int {
		return strings.Compare(r[len(r)-1].key, k)
	})
	if run == len(l.runs) {
		return run, 0
	}
	at, _ = slices.BinarySearchFunc(l.runs[run], key, compareEntry)
	return run, at
}

func compareEntry(e *entry, key string) int { return strings.Compare(e.key, key) }

// insert adds an entry whose key is not in the list.
func (l *keyList) insert(e *entry) {
	run, at := l.seek(e.key)
	if run == len(l.runs) {
		if run == 0 {
			l.runs = append(l.runs, []*entry{e})
			return
		}
		run--
		at = len(l.runs[run])
	}
	r := slices.Insert(l.runs[run], at, e)
	l.runs[run] = r
	if len(r) > maxRun {
		// Keys often come in order: a full left half keeps runs dense then.
		half := maxRun / 2
		if at == len(r)-1 {
			half = maxRun
		}
		l.runs = slices.Insert(l.runs, run+1, slices.Clone(r[half:]))
		clear(r[half:])
		l.runs[run] = r[:half:half]
	}
}

// remove drops the entry with the key, if there is one.
func (l *keyList) remove(key string) {
	run, at := l.seek(key)
	if run == len(l.runs) || l.runs[run][at].key != key {
		return
	}
	l.runs[run] = slices.Delete(l.runs[run], at, at+1)
	if len(l.runs[run]) == 0 {
		l.runs = slices.Delete(l.runs, run, run+1)
	}
}

// from yields the entries with keys >= start that have the prefix.
func (l *keyList) from(start, prefix string) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		run, at := l.seek(max(start, prefix))
		for ; run < len(l.runs); run, at = run+1, 0 {
			for _, e := range l.runs[run][at:] {
				if !strings.HasPrefix(e.key, prefix) || !yield(e) {
					return
				}
			}
		}
	}
}
