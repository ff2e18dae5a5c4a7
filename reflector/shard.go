package reflector

import (
	"fmt"
	"math/bits"
)

// Shard is a part of a resource's objects: those whose UID hashes into the
// Index-th of Count equal ranges. Every object is in exactly one of them, for
// as long as it lives. The zero value is everything.
//
// Servers can do the selecting (KEP-5866, an alpha feature of Kubernetes 1.37),
// and those that don't know it send everything without saying so. So what
// arrives is always selected here too: the result is the same, only the cost
// differs.
type Shard struct {
	Index, Count int
}

func (s Shard) validate() error {
	if s == (Shard{}) || s.Count > 0 && s.Index >= 0 && s.Index < s.Count {
		return nil
	}
	return fmt.Errorf("shard %d of %d: the count must be at least 1, and the index from 0 to below it", s.Index, s.Count)
}

// all reports whether the shard is everything.
func (s Shard) all() bool { return s.Count <= 1 }

// start is where the nth range begins: n·2⁶⁴/Count.
func (s Shard) start(n int) uint64 {
	q, _ := bits.Div64(uint64(n), 0, uint64(s.Count))
	return q
}

// selector is the shard in the words of the server, which takes bounds of
// exactly 16 digits and, for the end of the last range, 2⁶⁴.
func (s Shard) selector() string {
	if s.all() {
		return ""
	}
	end := "0x10000000000000000"
	if s.Index+1 < s.Count {
		end = fmt.Sprintf("0x%016x", s.start(s.Index+1))
	}
	return fmt.Sprintf("shardRange(object.metadata.uid, '0x%016x', '%s')", s.start(s.Index), end)
}

// holds reports whether the object with that UID is in the shard. The hash is
// the server's: FNV-1a of 64 bits.
func (s Shard) holds(uid []byte) bool {
	if s.all() {
		return true
	}
	h := uint64(14695981039346656037)
	for _, c := range uid {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h >= s.start(s.Index) && (s.Index+1 == s.Count || h < s.start(s.Index+1))
}

// foreign reports whether an object's bytes are those of another shard's. What
// can't be read is left to the decoder, which says why.
func (s Shard) foreign(raw []byte, enc encoding) bool {
	if s.all() {
		return false
	}
	id, err := peek(raw, enc)
	return err == nil && !s.holds(id.uid)
}
