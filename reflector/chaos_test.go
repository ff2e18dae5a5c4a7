package reflector

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
)

// TestI14_Chaos: under random writes and random faults, and after them, the
// sink is the server's state at the sink's version.
func TestI14_Chaos(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { chaos(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func chaos(t *testing.T, rng *rand.Rand) {
	s := apisim.New(apisim.WithHistory(40))
	history := map[string][]string{} // version: the server's state
	record := func() {
		objects, rv := must2(s.List(podsGVR, ""))
		var keys []string
		for _, o := range objects {
			m := o.(metav1.Object)
			keys = append(keys, m.GetNamespace()+"/"+m.GetName()+"@"+m.GetResourceVersion())
		}
		slices.Sort(keys)
		history[rv] = keys
	}
	record()
	faults := []apisim.Fault{
		nil, nil, nil,
		apisim.CutAfter(int64(rng.IntN(3000))),
		apisim.Refuse(metav1.Status{Code: 429}, time.Second),
		apisim.Refuse(metav1.Status{Code: 410, Reason: metav1.StatusReasonExpired}, 0),
		apisim.Respond(500, "text/plain", "panic"),
		apisim.Respond(200, "application/json", `{"type":`),
		apisim.Hang(),
	}
	enc := []Encoding{EncodingJSON, EncodingProtobuf}[rng.IntN(2)]
	choice := rng.IntN(1 << 30)
	var n atomic.Int64
	s.SetFault(func(*http.Request) apisim.Fault {
		return faults[(int(n.Add(1))*7919+choice)%len(faults)]
	})
	r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{Encoding: enc}, Options{PageSize: 7})
	check := func() {
		t.Helper()
		r.sink.mu.Lock()
		rv := r.sink.rv
		r.sink.mu.Unlock()
		if want, ok := history[rv]; ok && rv != "" && !slices.Equal(want, r.sink.keys()) {
			t.Fatalf("at version %s the sink has\n%q\nthe server had\n%q", rv, r.sink.keys(), want)
		}
	}
	names := make([]string, 15)
	for i := range names {
		names[i] = fmt.Sprintf("p%02d", i)
	}
	for range 300 {
		name := names[rng.IntN(len(names))]
		switch rng.IntN(3) {
		case 0:
			_, _ = s.Delete(podsGVR, "default", name)
		default:
			p := pod(name)
			p.Annotations = map[string]string{"n": fmt.Sprint(rng.IntN(1000))}
			must(s.Apply(podsGVR, p))
		}
		record()
		if rng.IntN(20) == 0 {
			s.CloseWatches()
		}
		if rng.IntN(50) == 0 {
			s.Compact()
		}
		time.Sleep(time.Duration(rng.IntN(4000)) * time.Millisecond)
		synctest.Wait()
		check()
	}
	s.SetFault(nil)
	time.Sleep(20 * time.Minute)
	synctest.Wait()
	check()
	r.converged(podsGVR)
	if st := r.Status(); st.LastError != nil || st.Phase != Watching {
		t.Errorf("after the faults: %+v", st)
	}
	r.end()
}
