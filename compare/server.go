package compare

import (
	"context"

	"informer.example/compare/internal/child"
)

// server is where the objects live, as the coordinator drives it.
type server interface {
	// fill makes the objects 0 to n-1 of the schedule, and no others.
	fill(context.Context, int) (target, error)
	// churn carries out the schedule and logs it.
	churn(context.Context, churnRequest) (churned, error)
	// state is what there is now.
	state(context.Context) ([]Version, error)
	// close removes everything that was made; in a hurry if ctx has ended.
	close(ctx context.Context) error
}

// churned is the log of a schedule carried out.
type churned struct {
	Writes []Write
	// Behind is how much later than planned the last write was sent.
	Behind int64 // nanoseconds
}

// simulated is a server process of its own with an apisim in it.
type simulated struct{ process *child.Process }

func startSimulated(ctx context.Context, command []string) (server, error) {
	process, err := child.Start(ctx, command)
	if err != nil {
		return nil, err
	}
	return simulated{process}, nil
}

func (s simulated) fill(ctx context.Context, objects int) (target, error) {
	return child.Call[int, target](ctx, s.process, methodFill, objects)
}

func (s simulated) churn(ctx context.Context, r churnRequest) (churned, error) {
	return child.Call[churnRequest, churned](ctx, s.process, methodChurn, r)
}

func (s simulated) state(ctx context.Context) ([]Version, error) {
	return child.Call[none, []Version](ctx, s.process, methodState, none{})
}

func (s simulated) close(context.Context) error { return s.process.Close() }
