package child

import (
	"bytes"
	"strings"
	"sync"
)

// tailSize is how much of a child's standard error is kept.
const tailSize = 64 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

// reason is the line that says why a program ended: that of a panic, otherwise
// the last one. Never a stack.
func (t *tail) reason() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := ""
	for line := range bytes.Lines(t.buf) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") {
			return text
		}
		if text != "" {
			last = text
		}
	}
	return last
}
