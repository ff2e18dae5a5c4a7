package reflector

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"informer.example/apisim"
)

// TestServer_WatchVerbReturns: a resource that can't be watched is polled, until
// it can. Once it was polled for ever.
func TestServer_WatchVerbReturns(t *testing.T) {
	noVerb := only("watch", apisim.Respond(405, "text/plain", "no"))
	gone := func(*http.Request) apisim.Fault { return apisim.Respond(404, "text/plain", "404 page not found") }
	for _, c := range []struct {
		why     string
		outage  func(*http.Request) apisim.Fault // in the minute before the verb returns
		watched time.Duration                    // how much later it is watched, at most
	}{
		{"an upgrade that no request meets: a watch is tried now and then", noVerb, watchAgain + 2*time.Minute},
		{"a definition remade: the poll that met 404 is followed by a watch", gone, 2 * time.Minute},
	} {
		for name, mode := range map[string]WatchListMode{"lists": WatchListNever, "watch-list": WatchListAuto} {
			t.Run(c.why+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := apisim.New()
					must(s.Create(podsGVR, pod("a")))
					s.SetFault(noVerb)
					r := start(t, s, podsGVR, SourceOptions[*corev1.Pod]{}, Options{WatchList: mode, PollInterval: time.Minute})
					before := r.Status().Watches
					time.Sleep(35 * time.Minute)
					synctest.Wait()
					// Three tries in 35 polls, and not a word about them.
					if st := r.Status(); st.Phase != Polling || st.Watches-before != 3 || st.Lists < 30 || st.LastError != nil || st.Attempts != 0 {
						t.Errorf("polling: %+v", st)
					}
					r.converged(podsGVR)
					s.SetFault(c.outage)
					time.Sleep(time.Minute + 10*time.Second) // one poll meets it
					s.SetFault(nil)
					must(s.Create(podsGVR, pod("b")))
					time.Sleep(c.watched)
					synctest.Wait()
					if st := r.Status(); st.Phase != Watching || st.LastError != nil {
						t.Errorf("the verb is back: %+v", st)
					}
					lists := r.Status().Lists
					must(s.Create(podsGVR, pod("c")))
					time.Sleep(30 * time.Minute)
					synctest.Wait()
					if st := r.Status(); st.Phase != Watching || st.Lists != lists {
						t.Errorf("watched for a while: %+v", st)
					}
					r.converged(podsGVR)
					r.end()
				})
			})
		}
	}
}
