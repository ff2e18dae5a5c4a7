package scenario

import (
	"fmt"
	"strings"
	"time"

	"informer.example/informer"
)

// joining is how a handler of a script joins.
type joining struct {
	name     string
	delivery informer.Delivery
	lag      int
	resync   time.Duration
	quits    int
}

// options are those of the handler's registration. Panics are isolated, so that a
// script can cause them.
func (j joining) options() []informer.HandlerOption {
	opts := []informer.HandlerOption{
		informer.WithName(j.name), informer.WithDelivery(j.delivery), informer.WithHandlerResync(j.resync),
		informer.WithPanicPolicy(informer.IsolatePanics),
	}
	if j.lag > 0 {
		opts = append(opts, informer.WithHandlerMaxLag(j.lag))
	}
	return opts
}

// parseJoin: join NAME [elastic|latest|block] [lag=N] [resync=D] [quits=N]
func parseJoin(a args) (func(*runner) error, error) {
	name, err := a.word(0)
	if err != nil {
		return nil, err
	}
	j := joining{name: name}
	for _, w := range a[1:] {
		option, value, _ := strings.Cut(w, "=")
		var err error
		switch option {
		case "elastic":
		case "latest":
			j.delivery = informer.Latest
		case "block":
			j.delivery = informer.Block
		case "lag":
			j.lag, err = args{value}.number(0)
		case "resync":
			j.resync, err = args{value}.duration(0)
		case "quits":
			j.quits, err = args{value}.number(0)
		default:
			err = fmt.Errorf("%q is unknown; there are elastic, latest, block, lag=, resync= and quits=", w)
		}
		if err != nil {
			return nil, err
		}
	}
	return func(r *runner) error { return r.subject.join(j) }, nil
}

// parseHandler: leave, stall or resume NAME, panic NAME N
func parseHandler(verb string, a args) (func(*runner) error, error) {
	name, err := a.word(0)
	if err != nil {
		return nil, err
	}
	n := 0
	if verb == "panic" {
		if n, err = a.number(1); err != nil {
			return nil, err
		}
	}
	return func(r *runner) error {
		h := r.subject.handler(name)
		if h == nil {
			return fmt.Errorf("there is no handler %s", name)
		}
		switch verb {
		case "leave":
			h.leave()
		case "stall":
			h.stall()
		case "resume":
			h.resume()
		case "panic":
			h.panic(n)
		}
		return nil
	}, nil
}

// scripted is a listener of any type.
type scripted interface {
	leave()
	stall()
	resume()
	panic(calls int)
}
