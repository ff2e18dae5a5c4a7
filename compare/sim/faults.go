package sim

import "fmt"

// wireFault is a fault as a program may meet it: a line of the script's language,
// with its numbers drawn. Faults with which a server lies, so that no client could
// keep the invariants, come only where it can know better: see generator.unit.
type wireFault struct {
	id     string // those of the wire contract
	weight int
	line   func(r *draw) string
}

// wireFaults returns all faults that may come at any time.
func wireFaults() []wireFault {
	fixed := func(line string) func(*draw) string {
		return func(r *draw) string { return "fault " + r.which(line) }
	}
	return []wireFault{
		{"F1", 4, func(r *draw) string { return "fault any for=" + r.oneOf("2s", "20s", "2m") + " : break" }},
		{"F2", 2, fixed("any N : hang")},
		{"F3", 2, fixed("stream N : silence")},
		{"F4", 4, func(r *draw) string { return fmt.Sprintf("fault "+r.which("any N : reset %d"), r.IntN(3000)) }},
		{"F5", 4, func(r *draw) string { return fmt.Sprintf("fault "+r.which("any N : cut %d"), r.IntN(3000)) }},
		{"F6", 2, func(r *draw) string {
			return fmt.Sprintf("fault "+r.which("list N : cut-list inside-item %d"), r.IntN(4))
		}},
		{"F7", 2, fixed("any N : draining")},
		{"F8", 2, fixed("any N : html")},
		{"F9", 2, func(r *draw) string {
			return "fault any for=" + r.oneOf("5s", "1m") + " : answer " + r.oneOf("401", "403")
		}},
		{"F10", 2, func(r *draw) string { return "fault any for=" + r.oneOf("5s", "1m") + " : answer 404" }},
		{"F11", 1, fixed("any N : answer 406")},
		{"F12", 2, fixed("any N : overloaded 1s")},
		{"F13", 2, fixed("any N : overloaded")},
		{"F14", 2, fixed("any N : answer 429 after=7s storage is (re)initializing")},
		{"F15", 1, fixed("any N : draining")},
		{"F16", 2, fixed("any N : answer 503 after=1s apiserver is shutting down")},
		{"F17", 2, fixed("any N : panicked")},
		{"F18", 2, fixed("any N : deadline")},
		{"F19", 3, func(r *draw) string { return "fault " + r.which("state N : too-large "+r.oneOf("0s", "1s")) }},
		{"F20", 3, fixed("list page=1 N : expired")},
		{"F21", 3, fixed("list page=2 N : expired TOKEN")},
		{"F23", 4, func(r *draw) string {
			return "fault " + r.which(fmt.Sprintf("list N : cut-list %s%s",
				r.oneOf("inside-item 1", "between-items 2", "before-metadata 0", "before-trailer 0"), r.oneOf("", " clean")))
		}},
		{"F24", 2, func(r *draw) string { return fmt.Sprintf("fault "+r.which("list N : status-tail %d"), r.IntN(4)) }},
		{"F25", 1, func(r *draw) string {
			return "fault " + r.which("list N : gzip "+r.oneOf("cut-block", "wrong-sum", "cut-checksum"))
		}},
		{"F26", 2, func(r *draw) string { return "fault " + r.which("list N : version "+r.oneOf("", "0", "abc")) }},
		{"F27", 2, func(r *draw) string { return "fault " + r.which("list N : "+r.oneOf("null-items", "empty-pages")) }},
		{"F28", 2, func(r *draw) string {
			return "fault " + r.which("list N : repeat-item "+r.oneOf("old-first", "old-last"))
		}},
		{"F29", 1, fixed("list N : strange")},
		{"F30", 1, fixed("list N : ignore limit")},
		{"F31", 1, fixed("any : ignore shardSelector")},
		{"F32", 1, func(r *draw) string { return "fault state for=1m : answer 500 StorageReadError" }},
		{"F33", 2, fixed("stream times=5 : end 0")},
		{"F34", 6, func(r *draw) string { return fmt.Sprintf("fault "+r.which("watch N : end %d"), r.IntN(5)) }},
		{"F35", 4, func(r *draw) string {
			return fmt.Sprintf("fault "+r.which("watch-list N : %s %d"), r.oneOf("end", "break-after"), r.IntN(5))
		}},
		{"F36", 6, func(r *draw) string { return fmt.Sprintf("fault "+r.which("stream N : error 410 %d"), r.IntN(4)) }},
		{"F37", 3, fixed("stream N : answer 410")},
		{"F38", 2, func(r *draw) string { return fmt.Sprintf("fault "+r.which("stream N : error too-large %d"), r.IntN(3)) }},
		{"F39", 1, fixed("watch-list N : answer 422")},
		{"F40", 2, func(r *draw) string { return fmt.Sprintf("fault "+r.which("stream N : error 500 %d"), r.IntN(4)) }},
		{"F41", 2, func(r *draw) string { return fmt.Sprintf("fault "+r.which("stream N : error 429 %d"), r.IntN(4)) }},
		{"F42", 2, func(r *draw) string { return "fault stream : " + r.oneOf("no-bookmarks", "wrong-bookmarks") }},
		{"F43", 2, func(r *draw) string {
			return "fault " + r.which("stream N : "+r.oneOf("no-marker", "false-markers", "twice-bookmarks"))
		}},
		{"F45", 5, func(r *draw) string {
			return fmt.Sprintf("fault "+r.which("stream N : cut-frame %d %s"), r.IntN(5), r.oneOf("clean", "broken"))
		}},
		{"F46", 3, func(r *draw) string {
			return fmt.Sprintf("fault "+r.which("stream N : bad %s %d"), r.oneOf("garbage", "unknown-type", "null-object", "huge-length"), r.IntN(4))
		}},
		{"F47", 4, func(r *draw) string { return fmt.Sprintf("fault "+r.which("watch N : replay %d"), 1+r.IntN(4)) }},
		{"F48", 4, func(r *draw) string {
			return "fault " + r.which("watch N : "+r.oneOf("ghosts", "retype ADDED MODIFIED", "retype MODIFIED ADDED"))
		}},
		{"F50", 3, func(r *draw) string { return "fault " + r.which("watch N : hold "+r.oneOf("1s", "10s")) }},
		{"F51", 1, func(r *draw) string { return "fault " + r.which("stream N : members 7"+r.oneOf("", " lazy")) }},
		{"", 2, func(r *draw) string { return "fault " + r.which("any N : delay "+r.oneOf("100ms", "3s", "40s")) }},
	}
}
