package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"informer.example/compare/internal/child"
)

// run is one comparison.
type run struct {
	opts   Options
	result Result
	number int // of the current subject, from 1
}

// Run compares the subjects, one after the other. When ctx ends it stops,
// removes what it made, and returns the context's cause.
//
// Errors are an [*OptionError], a [*SubjectError], or an error about the
// server; joined with a [*CleanupError] if something that was made is left. A
// subject that does not converge is no error of Run; ask
// [Result.Err].
func Run(ctx context.Context, opts Options) (Result, error) {
	opts = opts.WithDefaults()
	if err := opts.Validate(); err != nil {
		return Result{}, err
	}
	r := &run{opts: opts}
	if len(r.opts.Command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return Result{}, fmt.Errorf("find this program's file, to start it as a child: %w", err)
		}
		r.opts.Command = []string{self, ChildArgument}
	}
	r.result.Environment = environment()
	r.result.Config = r.config()
	if err := r.compare(ctx); err != nil {
		if ctx.Err() == nil {
			return Result{}, err
		}
		why := context.Cause(ctx)
		if left, ok := errors.AsType[*CleanupError](err); ok {
			return Result{}, errors.Join(why, left)
		}
		return Result{}, why // the rest is its consequence
	}
	return r.result, nil
}

// Err returns a [*NotConvergedError] for every subject that did not converge,
// joined; nil if all did.
func (r Result) Err() error {
	var errs []error
	for _, s := range r.Subjects {
		if !s.Converged {
			errs = append(errs, &NotConvergedError{Subject: s.Name, Waited: s.waited, Difference: s.difference})
		}
	}
	return errors.Join(errs...)
}

// SubjectError says that a subject failed, so that there is nothing to compare.
type SubjectError struct {
	Subject string
	Phase   Phase
	Err     error
}

func (e *SubjectError) Error() string {
	return fmt.Sprintf("subject %s failed, %s: %v", e.Subject, e.Phase, e.Err)
}

func (e *SubjectError) Unwrap() error { return e.Err }

// CleanupError says what is left on the cluster.
type CleanupError struct {
	Namespace string
	Err       error
}

func (e *CleanupError) Error() string {
	return fmt.Sprintf("namespace %s is left on the cluster: %v; remove it by: kubectl delete namespace %s", e.Namespace, e.Err, e.Namespace)
}

func (e *CleanupError) Unwrap() error { return e.Err }

func (r *run) config() Config {
	o := r.opts
	c := Config{
		Server: "simulated", Objects: o.Objects, WritesPerSecond: o.Rate, Writes: writesIn(o.Rate, o.Duration),
		DurationSeconds: o.Duration.Seconds(), PollIntervalSeconds: o.PollInterval.Seconds(),
		Encoding: o.Encoding, Seed: o.Seed,
	}
	if o.Kubeconfig != "" {
		c.Server = "cluster"
	}
	return c
}

func (r *run) compare(ctx context.Context) (err error) {
	if r.opts.Kubeconfig == "" {
		for i, name := range r.opts.Subjects {
			r.number = i + 1
			if err := r.onSimulated(ctx, name); err != nil {
				return err
			}
		}
		return nil
	}
	srv, err := startCluster(ctx, r.opts.Kubeconfig, r.opts.Context)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, r.during(Progress{Phase: Cleaning}, func() error { return srv.close(ctx) }))
	}()
	for i, name := range r.opts.Subjects {
		r.number = i + 1
		if err := r.subject(ctx, srv, name); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) onSimulated(ctx context.Context, name string) error {
	srv, err := startSimulated(ctx, r.opts.Command)
	if err != nil {
		return err
	}
	defer srv.close(ctx) // it has served its purpose, however it ends
	return r.subject(ctx, srv, name)
}

// subject is the whole life of one subject: fill, sync, churn, settle.
func (r *run) subject(ctx context.Context, srv server, name string) error {
	o := r.opts
	var to target
	err := r.during(Progress{Subject: name, Phase: Filling}, func() (err error) {
		to, err = srv.fill(ctx, o.Objects)
		return err
	})
	if err != nil {
		return fmt.Errorf("fill the server with %d pods: %w", o.Objects, err)
	}

	process, err := child.Start(ctx, o.Command)
	if err != nil {
		return &SubjectError{name, Syncing, err}
	}
	defer process.Close() // measured already, or failed
	err = r.during(Progress{Subject: name, Phase: Syncing}, func() error {
		_, err := child.Call[startRequest, none](ctx, process, methodStart, startRequest{
			Subject: name, Target: to, Encoding: o.Encoding, PollInterval: o.PollInterval, Timeout: o.SyncTimeout,
		})
		return err
	})
	if err != nil {
		return &SubjectError{name, Syncing, err}
	}

	var log churned
	err = r.during(Progress{Subject: name, Phase: Writing, Expected: o.Duration}, func() (err error) {
		log, err = srv.churn(ctx, churnRequest{Seed: o.Seed, Objects: o.Objects, Rate: o.Rate, Duration: o.Duration})
		return err
	})
	if err != nil {
		return fmt.Errorf("write to the server: %w", err)
	}
	if behind := time.Duration(log.Behind); behind > o.Duration/10 {
		r.result.Notes = append(r.result.Notes, fmt.Sprintf("%s: the server took the writes more slowly than asked; the last one was %v late", name, behind.Round(time.Millisecond)))
	}

	var server []Version
	var m measurement
	err = r.during(Progress{Subject: name, Phase: Settling}, func() (err error) {
		if server, err = srv.state(ctx); err != nil {
			return fmt.Errorf("read the server's final state: %w", err)
		}
		m, err = child.Call[settleRequest, measurement](ctx, process, methodSettle, settleRequest{
			Count: len(server), Digest: digest(server), Timeout: o.SettleTimeout,
		})
		if err != nil {
			return &SubjectError{name, Settling, err}
		}
		return nil
	})
	if err != nil {
		return err
	}
	result := subjectResult(name, m, log, server)
	result.waited = o.SettleTimeout
	r.result.Subjects = append(r.result.Subjects, result)
	return nil
}
