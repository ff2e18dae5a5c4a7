package reflector

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// frames decodes a watch and returns its events as words.
func frames(body io.Reader, maxFrame int) (words []string, err error) {
	fr, err := framesOf(body, maxFrame)
	if err != nil {
		return nil, err
	}
	for {
		f, err := fr.next()
		if err != nil {
			return words, err
		}
		id, err := peek(f.obj, f.enc)
		if err != nil {
			words = append(words, "bad")
			continue
		}
		words = append(words, f.event.String()+" "+id.key().String()+" "+string(id.resourceVersion))
	}
}

// TestF45_WatchCutAnywhere: a clean end is clean only between frames, and all
// that came whole counts.
func TestF45_WatchCutAnywhere(t *testing.T) {
	rec := recording(t)
	for _, name := range []string{"widgets-watch-json", "widgets-metadata-watch-protobuf"} {
		body := bytes.TrimRight(rec[name].body, "\n")
		whole, err := frames(bytes.NewReader(body), defaultMaxBytes)
		if err != io.EOF || len(whole) < 4 {
			t.Fatalf("%s whole: %q, %v", name, whole, err)
		}
		clean := 0
		for n := range body {
			got, err := frames(bytes.NewReader(body[:n]), defaultMaxBytes)
			if len(got) > len(whole) || strings.Join(got, ",") != strings.Join(whole[:len(got)], ",") {
				t.Fatalf("%s cut after %d: %q", name, n, got)
			}
			switch {
			case err == io.EOF:
				clean++
			case !errors.Is(err, io.ErrUnexpectedEOF):
				t.Fatalf("%s cut after %d: %v", name, n, err)
			}
		}
		// Clean are: nothing, and each frame's end; in JSON with and without
		// the line's.
		want := len(whole)
		if strings.HasSuffix(name, "json") {
			want = 2*len(whole) - 1
		}
		if clean != want {
			t.Errorf("%s: %d clean ends, want %d", name, clean, want)
		}
	}
}

func TestWatchArrivesByteByByte(t *testing.T) {
	rec := recording(t)
	for _, name := range []string{"pods-watch-json", "pods-watch-protobuf", "pods-watch-quiet"} {
		want, _ := frames(bytes.NewReader(rec[name].body), defaultMaxBytes)
		got, err := frames(iotest.OneByteReader(bytes.NewReader(rec[name].body)), defaultMaxBytes)
		if err != io.EOF || strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestJSONWatch(t *testing.T) {
	pod := `{"metadata":{"name":"a","resourceVersion":"5"}}`
	for _, c := range []struct{ why, body, want, err string }{
		{"type first", `{"type":"ADDED","object":` + pod + `}`, "ADDED a 5", "EOF"},
		{"object first", `{"object":` + pod + `,"type":"MODIFIED"}`, "MODIFIED a 5", "EOF"},
		{"nothing between frames", `{"type":"ADDED","object":` + pod + `}{"type":"DELETED","object":` + pod + `}`, "ADDED a 5,DELETED a 5", "EOF"},
		{"space between frames", "\n\n {\"type\":\"ADDED\",\"object\":" + pod + "}\r\n\t", "ADDED a 5", "EOF"},
		{"unknown members", `{"x":{"type":"DELETED"},"type":"ADDED","y":[1],"object":` + pod + `,"z":null}`, "ADDED a 5", "EOF"},
		{"the last of two types wins", `{"type":"ADDED","object":` + pod + `,"type":"DELETED"}`, "DELETED a 5", "EOF"},
		{"an escaped type", `{"type":"ADD\u0045D","object":` + pod + `}`, "ADDED a 5", "EOF"},
		{"names match exactly", `{"Type":"ADDED","object":` + pod + `}`, "", "no type"},
		{"F46: an unknown type", `{"type":"SYNC","object":` + pod + `}`, "", `unknown type "SYNC"`},
		{"F46: no object", `{"type":"ADDED"}`, "", "no object"},
		{"F46: garbage", `{"type":"ADDED","object":` + pod + `}garbage`, "ADDED a 5", "can't read a watch frame"},
		{"F46: garbage inside", `{"type":"ADDED","object":{"metadata":{"name":]}}`, "", "can't read a watch frame"},
		{"a type that is no string", `{"type":7,"object":` + pod + `}`, "", "isn't a string"},
		{"no frame", `{"type":"ADDED","object":` + pod + `}[]`, "ADDED a 5", "want an object"},
		{"nothing", "", "", "EOF"},
		{"F8: HTML", "<html>", "", "neither JSON nor protobuf"},
	} {
		t.Run(c.why, func(t *testing.T) {
			got, err := frames(strings.NewReader(c.body), defaultMaxBytes)
			if s := strings.Join(got, ","); s != c.want {
				t.Errorf("got %q", s)
			}
			if (c.err == "EOF") != (err == io.EOF) || !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if _, bad := errors.AsType[*DecodeError](err); err != io.EOF && !bad {
				t.Errorf("error %v is no DecodeError", err)
			}
		})
	}
}

func pbFrame(content ...[]byte) []byte {
	all := bytes.Join(content, nil)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(all))), all...)
}

func TestProtoWatch(t *testing.T) {
	obj := func(raw ...[]byte) []byte { return pbBytes(2, pbBytes(1, raw...)) }
	pod := obj(pbEnvelope("Pod", pbPod(t, "a")))
	unknown := pbString(100, "x")
	for _, c := range []struct {
		why  string
		body [][]byte
		want string
		err  string
	}{
		{"type first", [][]byte{pbFrame(pbString(1, "ADDED"), pod)}, "ADDED a 5", "EOF"},
		{"object first", [][]byte{pbFrame(pod, pbString(1, "DELETED"))}, "DELETED a 5", "EOF"},
		{"two frames", [][]byte{pbFrame(pbString(1, "ADDED"), pod), pbFrame(pbString(1, "MODIFIED"), pod)}, "ADDED a 5,MODIFIED a 5", "EOF"},
		{"unknown fields", [][]byte{pbFrame(unknown, pbString(1, "ADDED"), unknown, pod, unknown)}, "ADDED a 5", "EOF"},
		{"F46: a huge length", [][]byte{pbFrame(pbString(1, "ADDED"), pod), {0xff, 0xff, 0xff, 0xff}}, "ADDED a 5", "MaxFrameBytes"},
		{"F46: an unknown type", [][]byte{pbFrame(pbString(1, "SYNC"), pod)}, "", `unknown type "SYNC"`},
		{"F46: no type", [][]byte{pbFrame(pod)}, "", "unknown type"},
		{"F46: no object", [][]byte{pbFrame(pbString(1, "ADDED"))}, "", "doesn't begin with"},
		{"F46: an object that is no envelope", [][]byte{pbFrame(pbString(1, "ADDED"), obj([]byte("{}")))}, "", "doesn't begin with"},
		{"F46: garbage", [][]byte{pbFrame([]byte("garbage"))}, "", "malformed"},
		{"an empty frame", [][]byte{pbFrame()}, "", "unknown type"},
		{"a length past the frame", [][]byte{pbFrame(pbVarint(2<<3|2), pbVarint(1<<40))}, "", "malformed"},
		{"a length that overflows", [][]byte{pbFrame(pbVarint(2<<3|2), pbVarint(1<<63))}, "", "malformed"},
	} {
		t.Run(c.why, func(t *testing.T) {
			got, err := frames(bytes.NewReader(bytes.Join(c.body, nil)), defaultMaxBytes)
			if s := strings.Join(got, ","); s != c.want {
				t.Errorf("got %q", s)
			}
			if (c.err == "EOF") != (err == io.EOF) || !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if _, bad := errors.AsType[*DecodeError](err); err != io.EOF && !bad {
				t.Errorf("error %v is no DecodeError", err)
			}
		})
	}
	// The first byte of a length beyond 16 MiB isn't zero.
	if _, err := frames(bytes.NewReader([]byte{0xff, 0xff, 0xff, 0xff}), defaultMaxBytes); err == nil {
		t.Error("a huge first frame is taken")
	}
}

func TestF46_FrameCap(t *testing.T) {
	const limit = 100 << 10
	json := func(n int) []byte {
		return []byte(`{"type":"ADDED","object":{"metadata":{"name":"a"},"x":"` + strings.Repeat("x", n) + `"}}`)
	}
	proto := func(n int) []byte {
		return pbFrame(pbString(1, "ADDED"), pbBytes(2, pbBytes(1, pbEnvelope("Pod", pbPod(t, "a"), pbString(50, strings.Repeat("x", n))))))
	}
	for name, body := range map[string]func(int) []byte{"json": json, "protobuf": proto} {
		// Several in a row: each has its own budget.
		many := bytes.Repeat(body(limit-300), 5)
		if got, err := frames(bytes.NewReader(many), limit); err != io.EOF || len(got) != 5 {
			t.Errorf("%s below the cap: %d, %v", name, len(got), err)
		}
		_, err := frames(bytes.NewReader(body(50*limit)), limit)
		if _, ok := errors.AsType[*SizeError](err); !ok || !strings.Contains(err.Error(), "MaxFrameBytes") {
			t.Errorf("%s above the cap: %v", name, err)
		}
	}
	// A first frame beyond 16 MiB where the cap was raised. It was taken for
	// what no API server sends.
	if got, err := frames(bytes.NewReader(proto(17<<20)), 32<<20); err != io.EOF || len(got) != 1 {
		t.Errorf("a frame of 17 MiB below a cap of 32: %d, %v", len(got), err)
	}
	// 16 MiB less a byte, announced and not sent.
	if got := allocated(func() { frames(bytes.NewReader([]byte{0, 0xff, 0xff, 0xff, 1, 2}), defaultMaxBytes) }); got > 100<<10 {
		t.Errorf("%d bytes allocated for a length without content", got)
	}
}

// TestWatchErrorFrame: a Status in a frame is the error that ends the stream.
func TestWatchErrorFrame(t *testing.T) {
	st := metav1.Status{Status: "Failure", Code: 410, Reason: metav1.StatusReasonExpired, Message: "too old"}
	raw, _ := st.Marshal()
	for why, body := range map[string][]byte{
		"json":            []byte(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old"}}`),
		"json, no kind":   []byte(`{"type":"ERROR","object":{"status":"Failure","reason":"Expired","code":410,"message":"too old"}}`),
		"protobuf":        pbFrame(pbString(1, "ERROR"), pbBytes(2, pbBytes(1, pbEnvelope("Status", raw)))),
		"json in a frame": pbFrame(pbString(1, "ERROR"), pbBytes(2, pbString(1, `{"kind":"Status","status":"Failure","reason":"Expired","code":410}`))),
	} {
		_, err := watchAll(t, sourceOf(t, answer(200, nil, bytes.NewReader(body)), podsGVR, SourceOptions[*corev1.Pod]{}))
		if !apierrors.IsResourceExpired(err) {
			t.Errorf("%s: %v", why, err)
		}
	}
	_, err := watchAll(t, sourceOf(t, answer(200, nil, strings.NewReader(`{"type":"ERROR","object":{"kind":"Pod"}}`)), podsGVR, SourceOptions[*corev1.Pod]{}))
	if _, ok := errors.AsType[*DecodeError](err); !ok {
		t.Errorf("an ERROR without a Status: %v", err)
	}
}

// TestWatchQuarantine: an event whose object can't be used still says which
// object it is about.
func TestWatchQuarantine(t *testing.T) {
	body := `{"type":"MODIFIED","object":{"metadata":{"name":"a","uid":"u","resourceVersion":"5"},"spec":7}}
{"type":"DELETED","object":{"metadata":{"name":"b","uid":"v","resourceVersion":"6"},"spec":7}}
{"type":"ADDED","object":{"metadata":{"uid":"v","resourceVersion":"7"}}}`
	events, err := watchAll(t, sourceOf(t, answer(200, nil, strings.NewReader(body)), podsGVR, SourceOptions[*corev1.Pod]{}))
	if len(events) != 2 || err == nil {
		t.Fatal(events, err)
	}
	for i, want := range []struct{ name, uid, rv string }{{"a", "u", "5"}, {"b", "v", "6"}} {
		it := events[i].Item
		if it.Key.Name != want.name || string(it.UID) != want.uid || it.ResourceVersion != want.rv || events[i].Quarantined == nil || it.Object != nil {
			t.Errorf("event %d: %+v", i, events[i])
		}
	}
	if _, ok := errors.AsType[*DecodeError](err); !ok || !strings.Contains(err.Error(), "metadata.name") {
		t.Errorf("a nameless object ends the stream with %v", err)
	}
}

// TestE5_GzipMembers: a watch is compressed as one member for each flush.
func TestE5_GzipMembers(t *testing.T) {
	r, w := io.Pipe()
	transport := answer(200, http.Header{"Content-Encoding": {"gzip"}}, r)
	stream, err := sourceOf(t, transport, podsGVR, SourceOptions[*corev1.Pod]{}).Watch(context.Background(), WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	seen := make(chan bool)
	go func() {
		for _, name := range []string{"a", "b", "c"} {
			zw := gzip.NewWriter(w)
			io.WriteString(zw, `{"type":"ADDED","object":{"metadata":{"name":"`+name+`","resourceVersion":"5"}}}`+"\n")
			zw.Flush()
			<-seen // the event comes before its member has ended
			zw.Close()
		}
		w.Close()
	}()
	for _, name := range []string{"a", "b", "c"} {
		if ev, err := stream.Next(); err != nil || ev.Item.Key.Name != name {
			t.Fatal(ev, err)
		}
		seen <- true
	}
	if _, err := stream.Next(); err != io.EOF {
		t.Errorf("ended with %v", err)
	}
}

// TestF25_GzipCut: a compressed list that is cut, or doesn't add up, is no list.
func TestF25_GzipCut(t *testing.T) {
	e := recording(t)["pods-list-gzip-json"]
	list := func(body []byte) error {
		_, _, err := listAll(t, sourceOf(t, answer(200, e.Response.Header, bytes.NewReader(body)), podsGVR, SourceOptions[*corev1.Pod]{}))
		return err
	}
	if err := list(e.body); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(e.body); n += 997 {
		if list(e.body[:n]) == nil {
			t.Errorf("cut after %d: taken", n)
		}
	}
	for _, n := range []int{1, 4, 8} {
		if list(e.body[:len(e.body)-n]) == nil {
			t.Errorf("%d bytes of the trailer missing: taken", n)
		}
	}
	wrong := bytes.Clone(e.body)
	wrong[len(wrong)-8] ^= 1
	if list(wrong) == nil {
		t.Error("a wrong checksum: taken")
	}
}
