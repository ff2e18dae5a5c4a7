package naive

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

// Whatever happens, on the server and to the requests: the events that the
// handler was told lead from nothing to what the server holds (N7, N9).
func TestPollerUnderChurnAndFaults(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 2))
				s := newServer(t)
				encoding := []reflector.Encoding{reflector.EncodingJSON, reflector.EncodingProtobuf}[seed%2]
				source, err := reflector.NewHTTPSource(s.Config(), configMaps, reflector.SourceOptions[configMap]{Encoding: encoding})
				if err != nil {
					t.Fatal(err)
				}
				rebuilt := State[configMap]{}
				handler := informer.HandlerFunc[configMap](func(e informer.Event[configMap]) {
					was, known := rebuilt[e.Key]
					if known == (e.Type == informer.Added) || known && e.Old != was.Object {
						t.Errorf("%s %s does not follow from what was told before", e.Type, e.Key)
					}
					if e.Type == informer.Deleted {
						delete(rebuilt, e.Key)
						return
					}
					rebuilt[e.Key] = object.Item[configMap]{Key: e.Key, Object: e.New}
				})
				p := NewPoller(source, handler, Options{Interval: time.Second, PageSize: 5, PageTimeout: 100 * time.Millisecond})
				run := start(t, p.Run)

				faults := []apisim.Fault{
					nil, nil, nil,
					apisim.Hang(), apisim.CutAfter(50), apisim.CutAfter(400),
					apisim.Refuse(metav1.Status{Code: 500, Reason: metav1.StatusReasonInternalError}, 0),
				}
				failed := false
				for range 40 {
					for range r.IntN(10) {
						name := fmt.Sprint("n", r.IntN(20))
						if r.IntN(3) > 0 {
							s.write(name, fmt.Sprint(r.IntN(3)))
							continue
						}
						if _, err := s.Get(configMaps, "default", name); err == nil {
							s.delete(name)
						}
					}
					if r.IntN(10) == 0 {
						s.Compact()
					}
					// One fault for each page: some fail in the middle.
					page := r.Perm(len(faults))
					var n atomic.Int64
					s.SetFault(func(*http.Request) apisim.Fault { return faults[page[int(n.Add(1))%len(page)]] })
					time.Sleep(1200 * time.Millisecond)
					synctest.Wait()
					failed = failed || p.Stats().LastError != nil
				}
				if !failed {
					t.Error("no poll failed: the faults do nothing")
				}

				s.SetFault(nil)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				expect(t, "the state", s.exists(), names(p.List()))
				expect(t, "the state that the events lead to", s.exists(), names(sorted(rebuilt)))
				run.stop()
			})
		})
	}
}

// The objects of an item stay what they were decoded as, however many polls
// and readers there are: nobody writes to what is published (N11).
func TestPollerReadersDuringPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		p := NewPoller(s.source, &recorder{}, Options{Interval: time.Millisecond})
		run := start(t, p.Run)
		read := make(chan struct{})
		go func() {
			defer close(read)
			for range 200 {
				time.Sleep(time.Millisecond / 2)
				for _, c := range p.List() {
					if _, _, err := p.GetByKey("default/" + c.Name); err != nil {
						t.Error(err)
					}
				}
				_ = p.Stats()
			}
		}()
		for i := range 100 {
			time.Sleep(time.Millisecond)
			s.write(fmt.Sprint("n", i%10), fmt.Sprint(i))
		}
		<-read
		run.stop()
	})
}
