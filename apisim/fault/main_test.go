package fault_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"informer.example/apisim"
	"informer.example/apisim/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"
)

var podsGVR = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// newServer has n pods, default/p00 and on, at the versions 101 and on.
func newServer(t *testing.T, n int, opts ...apisim.Option) *apisim.Server {
	t.Helper()
	s := apisim.New(opts...)
	for i := range n {
		write(t, s, i)
	}
	return s
}

// write creates pod i.
func write(t *testing.T, s *apisim.Server, i int) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("p%02d", i)}}
	if _, err := s.Create(podsGVR, pod); err != nil {
		t.Fatal(err)
	}
}

// ask sends a GET to the server that cfg leads to.
func ask(t *testing.T, cfg *rest.Config, path, accept string, header ...string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, cfg.Host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	rt := cfg.Transport
	if rt == nil {
		transport := &http.Transport{DisableCompression: true}
		t.Cleanup(transport.CloseIdleConnections)
		rt = transport
	}
	return rt.RoundTrip(req)
}

// answer is what a request brought.
type answer struct {
	code   int
	header http.Header
	body   []byte
	err    error // of the body's end, or of the request
}

func get(t *testing.T, s *apisim.Server, path, accept string, header ...string) answer {
	t.Helper()
	return read(ask(t, s.Config(), path, accept, header...))
}

func read(resp *http.Response, err error) answer {
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, body, err}
}

// frames puts the body of a watch into words: "ADDED p00", "BOOKMARK 105",
// "BOOKMARK! 105" for a marker, "ERROR 410", "unreadable", "half" for a rest.
func (a answer) frames() string {
	split := fault.Splitter{Protobuf: strings.HasPrefix(a.header.Get("Content-Type"), protobufType)}
	split.Write(a.body)
	var words []string
	for {
		f, ok := split.Next()
		if !ok {
			break
		}
		switch st, isStatus := f.Status(); {
		case isStatus:
			words = append(words, fmt.Sprint("ERROR ", st.Code))
		case f.Type == "":
			words = append(words, "unreadable")
		case f.Marker():
			words = append(words, "BOOKMARK! "+f.Meta().ResourceVersion)
		case f.Bookmark():
			words = append(words, "BOOKMARK "+f.Meta().ResourceVersion)
		default:
			words = append(words, f.Type+" "+f.Meta().Name)
		}
	}
	if len(split.Rest()) > 0 {
		words = append(words, "half")
	}
	return strings.Join(words, ", ")
}
