package informer_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/reflector"
)

const crashEnv = "INFORMER_TEST_CRASH"

// A panic of the user's kills the process, with its own stack, although another
// handler hangs. Once such a panic was held up for ever by what waited for that
// handler.
func TestPanicKillsTheProcess(t *testing.T) {
	if where := os.Getenv(crashEnv); where != "" {
		crash(where)
		return
	}
	for where, frame := range map[string]string{"handler": "panicInHandler", "reflector": "panicInRand"} {
		t.Run(where, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestPanicKillsTheProcess$")
			cmd.Env = append(os.Environ(), crashEnv+"="+where)
			out, err := cmd.CombinedOutput()
			if ctx.Err() != nil || err == nil {
				t.Fatalf("the process didn't die: %v\n%s", err, out)
			}
			if !strings.Contains(string(out), "panic: as told") || !strings.Contains(string(out), frame) {
				t.Errorf("it died without the panic's own stack:\n%s", out)
			}
		})
	}
}

func panicInHandler(event) { panic("as told") }
func panicInRand() float64 { panic("as told") }
func hang(event)           { select {} }

func crash(where string) {
	server := apisim.New()
	_, _ = server.Create(podsGVR, newPod("ns", "a", "Pending"))
	started := make(chan struct{})
	var opts []informer.FactoryOption
	if where == "reflector" {
		opts = append(opts, informer.WithReflector(reflector.Options{
			WatchTimeoutMin: time.Second, // so that it is asked again soon
			Rand: func() float64 {
				select {
				case <-started:
					return panicInRand()
				default:
					return 0
				}
			}}))
	}
	f := informer.NewFactory(server.Config(), opts...)
	pods, err := informer.For[pod](f)
	if err != nil {
		return
	}
	_, _ = pods.AddEventHandler(informer.HandlerFunc[pod](func(e event) { close(started); hang(e) }))
	f.Start(context.Background())
	<-started
	if where == "handler" {
		_, _ = pods.AddEventHandler(informer.HandlerFunc[pod](panicInHandler))
	}
	time.Sleep(20 * time.Second) // to be cut short
}
