package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// grace is how long a child may take to end by itself.
const grace = 400 * time.Millisecond

// Process is a running child, seen from its parent. Its methods may be called
// from several goroutines.
type Process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr tail

	mu sync.Mutex // held during a call (C2)
	in *json.Decoder

	once sync.Once
	end  error // of cmd.Wait; set by once
}

// Start runs the command as a child. When ctx ends, so does the child. Whoever
// starts one must Close it.
func Start(ctx context.Context, command []string) (*Process, error) {
	p := &Process{cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = grace
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.stdout, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	p.cmd.Cancel = p.stdin.Close
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	p.in = json.NewDecoder(p.stdout)
	return p, nil
}

// PID is the child's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Call has the child run a method and waits for its reply. The error is an
// [*Error] if the method failed, an [*ExitError] if the child died, and ctx's if
// the context that the child was started with has ended.
func Call[Request, Reply any](ctx context.Context, p *Process, method string, params Request) (Reply, error) {
	var result Reply
	p.mu.Lock()
	defer p.mu.Unlock()
	// The end of ctx must unblock the pipes; a call given up leaves the child in
	// an unknown state, so it ends too.
	stop := context.AfterFunc(ctx, func() { p.stdin.Close(); p.stdout.Close() })
	defer stop()

	raw, err := json.Marshal(params)
	if err != nil {
		return result, fmt.Errorf("encode the request for %s: %w", method, err)
	}
	line, err := json.Marshal(request{Method: method, Params: raw})
	if err != nil {
		return result, fmt.Errorf("encode the request for %s: %w", method, err)
	}
	if _, err := p.stdin.Write(append(line, '\n')); err != nil {
		return result, p.died(ctx, method)
	}
	var answer reply
	if err := p.in.Decode(&answer); err != nil {
		return result, p.died(ctx, method)
	}
	if answer.Error != nil {
		return result, &Error{Method: method, Text: *answer.Error}
	}
	if err := json.Unmarshal(answer.Result, &result); err != nil {
		return result, fmt.Errorf("decode the reply to %s: %w", method, err)
	}
	return result, nil
}

func (p *Process) died(ctx context.Context, method string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.wait()
	return &ExitError{Method: method, State: p.cmd.ProcessState.String(), Reason: p.stderr.reason()}
}

// Close ends the child and waits until it is gone. A child that had to be
// killed is an error. Later calls return the same.
func (p *Process) Close() error {
	p.wait()
	var exit *exec.ExitError
	if errors.As(p.end, &exit) {
		return &ExitError{Method: "close", State: exit.String(), Reason: p.stderr.reason()}
	}
	return nil
}

func (p *Process) wait() {
	p.once.Do(func() {
		p.stdin.Close()
		timer := time.AfterFunc(grace, func() { p.cmd.Process.Kill() })
		defer timer.Stop()
		p.end = p.cmd.Wait()
	})
}
