package deltafifo

// keepCap is a capacity that is always kept: about 100 kB of deltas.
const keepCap = 1024

// worthKeeping reports whether memory with room for so many is to be used
// again after a batch of n. After a burst it is let go with the first batch
// that is much smaller; while batches stay large it stays (Q10).
func worthKeeping(n, room int) bool { return room <= keepCap || n >= room/4 }
