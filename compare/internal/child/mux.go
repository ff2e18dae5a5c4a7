package child

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

// Mux is the set of methods that a child has.
type Mux struct {
	methods map[string]func(context.Context, json.RawMessage) (json.RawMessage, error)
}

// Handle adds a method. Its context ends when the parent does.
func Handle[Request, Reply any](m *Mux, method string, f func(context.Context, Request) (Reply, error)) {
	if m.methods == nil {
		m.methods = make(map[string]func(context.Context, json.RawMessage) (json.RawMessage, error))
	}
	m.methods[method] = func(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
		var params Request
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, fmt.Errorf("decode the request for %s: %w", method, err)
		}
		result, err := f(ctx, params)
		if err != nil {
			return nil, err
		}
		return json.Marshal(result)
	}
}

// Run is the child's main function: it answers calls until the parent ends or
// closes it. It returns the exit code. A method that does not end in time is cut
// off by ending the process (C1).
func Run(m *Mux) int {
	signal.Ignore(os.Interrupt) // C5
	hung := time.AfterFunc(time.Hour, func() {
		fmt.Fprintln(os.Stderr, "the process did not end in time")
		os.Exit(1)
	})
	hung.Stop() // until the input ends
	err := m.serve(os.Stdin, os.Stdout, func() { hung.Reset(grace / 2) })
	hung.Stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// serve answers calls from in on out until in ends, and calls ended then.
func (m *Mux) serve(in io.Reader, out io.Writer, ended func()) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	requests := make(chan request)
	broken := make(chan error, 1)
	go func() {
		// Reads ahead while a method runs, so that the end of in is seen at once.
		// Ends with in.
		defer close(requests)
		defer ended()
		defer cancel()
		dec := json.NewDecoder(in)
		for {
			var req request
			if err := dec.Decode(&req); err != nil {
				if err != io.EOF {
					broken <- fmt.Errorf("read a request: %w", err)
				}
				return
			}
			requests <- req
		}
	}()
	enc := json.NewEncoder(out)
	for req := range requests {
		if err := enc.Encode(m.answer(ctx, req)); err != nil {
			if ctx.Err() != nil {
				return nil // nobody is left to read it
			}
			return fmt.Errorf("write a reply: %w", err)
		}
	}
	select {
	case err := <-broken:
		return err
	default:
		return nil
	}
}

func (m *Mux) answer(ctx context.Context, req request) reply {
	fail := func(err error) reply { text := err.Error(); return reply{Error: &text} }
	method := m.methods[req.Method]
	if method == nil {
		return fail(fmt.Errorf("unknown method %q", req.Method))
	}
	result, err := method(ctx, req.Params)
	if err != nil {
		return fail(err)
	}
	return reply{Result: result}
}
