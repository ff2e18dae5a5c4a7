package fault

import (
	"net"
	"net/http"
	"time"
)

// The faults of this file are those of a connection.

// Break takes the request and breaks the connection without an answer, as a
// server does that is gone or being killed.
func Break() Fault {
	return func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
}

// Hang takes the request and never answers; it ends when the client gives up.
func Hang() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

// Silence answers with good headers and never sends a byte after them; it ends
// when the client gives up.
func Silence() Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", streamType(r))
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

// Delay lets time pass and then the request.
func Delay(d time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !pause(r, d) {
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, r)
	}
}

// CutAfter serves the request and breaks the connection after n bytes of the
// body, all of which the client can read. A shorter answer is left whole.
func CutAfter(n int64) Fault { return cutAfter(n, breakOff) }

// Reset is CutAfter that resets the TCP connection (SO_LINGER 0): what was sent
// may be lost with it. Where there is no TCP connection, it is CutAfter.
func Reset(n int64) Fault { return cutAfter(n, reset) }

func cutAfter(n int64, end ending) Fault {
	return editedBytes(func() editor { return &byteCut{left: n, end: end} })
}

type byteCut struct {
	left int64
	end  ending
}

func (c *byteCut) edit(out *output, b []byte) {
	if int64(len(b)) <= c.left {
		c.left -= int64(len(b))
		out.send(b)
		return
	}
	out.send(b[:c.left])
	out.finish(c.end)
}

func (c *byteCut) whole(*output) {}

// abort breaks the connection of w, in the way that end says.
func abort(w http.ResponseWriter, end ending) {
	_ = http.NewResponseController(w).Flush()
	if end == reset {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}

// pause waits for d; it reports false if the client has gone.
func pause(r *http.Request, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// streamType is the Content-Type of a good answer to r.
func streamType(r *http.Request) string {
	op, _ := OpOf(r)
	switch {
	case !wantsProtobuf(r):
		return jsonType
	case op&Stream != 0:
		return protobufWatchType
	}
	return protobufType
}
