package compare

import (
	"context"
	"fmt"
	"time"
)

// churnRequest is a schedule to carry out.
type churnRequest struct {
	Seed     uint64
	Objects  int
	Rate     int
	Duration time.Duration
}

// run carries out the schedule, one write after the other, each at its time or,
// if the writes before took longer, as soon after it as possible.
func (r churnRequest) run(ctx context.Context, write func(context.Context, operation) (Write, error)) (churned, error) {
	out := churned{Writes: make([]Write, 0, writesIn(r.Rate, r.Duration))}
	start := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	pause := func(until time.Duration) error {
		wait := until - time.Since(start)
		if wait <= 0 {
			return context.Cause(ctx)
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for op := range schedule(r.Seed, r.Objects, r.Rate, r.Duration) {
		if err := pause(op.at); err != nil {
			return churned{}, err
		}
		out.Behind = max(int64(time.Since(start)-op.at), 0)
		w, err := write(ctx, op)
		if err != nil {
			return churned{}, fmt.Errorf("write %d of the schedule, to object %d: %w", op.step, op.object, err)
		}
		out.Writes = append(out.Writes, w)
	}
	return out, pause(r.Duration)
}
