package reflector

import "time"

// watchAgain is how long a resource that can't be watched is polled before a
// watch is tried again. A watch that is refused costs far less than the list
// before it.
const watchAgain = 10 * time.Minute

// pause lies between two polls. It is no failure.
func (p policy) pause(s state, data dataEffect) (state, effect) {
	s.list = p.newList(s, RelistPoll, "")
	s.mode, s.after = modeWait, modeList
	return s, effect{data: data, next: doWait, floor: p.poll, ceiling: p.poll / 10}
}

// unwatchable remembers that the resource lacks the verb, for a while: its
// definition may be made anew, the server behind it upgraded.
func (s state) unwatchable(now time.Duration) state {
	s.polling, s.tryWatch = pollNoWatch, now+watchAgain
	return s
}

// polled follows a poll: the next one or, when it is time, a watch from there.
func (p policy) polled(s state, in input) (state, effect) {
	if s.polling == pollNoWatch && in.now >= s.tryWatch {
		return p.open(s, in, dataCommit)
	}
	return p.pause(s, dataCommit)
}
