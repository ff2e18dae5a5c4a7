package apisim

import (
	"compress/gzip"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	typeAdded    = "ADDED"
	typeModified = "MODIFIED"
	typeDeleted  = "DELETED"
	typeBookmark = "BOOKMARK"
	typeError    = "ERROR"

	// watchChunk is how much is gathered before a write, if there is more to
	// come at once.
	watchChunk = 32 << 10
)

// watchWriter writes the frames of one watch. Its handler goroutine owns it.
// An error sticks.
type watchWriter struct {
	w       http.ResponseWriter
	flusher *http.ResponseController
	res     *Resource
	enc     encoding
	env     envelope
	table   *tableForm // for encTable
	buf     []byte
	err     error
	spent   time.Duration // in writes and flushes since takeBlocked

	// A watch that begins with the state is compressed, one gzip member for
	// each flush, so that an idle watch holds no compressor.
	gzips *gzipPool // nil: not compressed
	z     *gzip.Writer
}

func (s *Server) newWatchWriter(w http.ResponseWriter, r *http.Request, res *Resource, enc encoding, watchList bool) *watchWriter {
	out := &watchWriter{w: w, flusher: http.NewResponseController(w), res: res, enc: enc, env: res.envelope(enc)}
	if watchList && s.compress && acceptsGzip(r) {
		out.gzips = &s.gzips
	}
	return out
}

// begin sends the headers.
func (o *watchWriter) begin() {
	o.w.Header().Set("Content-Type", mediaType(o.enc.proto(), true))
	if o.gzips != nil {
		o.w.Header().Set("Content-Encoding", "gzip")
		o.w.Header().Add("Vary", "Accept-Encoding")
	}
	o.w.WriteHeader(http.StatusOK)
	o.err = o.flusher.Flush()
}

// event writes one frame; it reports false if the stream is broken.
func (o *watchWriter) event(typ string, b *body) bool {
	var object []byte
	var err error
	if o.table != nil {
		object, err = o.table.one(b)
		o.table.headed = true
	} else {
		object, err = b.bytes(o.enc)
	}
	if err != nil {
		o.error(err)
		o.flush()
		return false
	}
	o.buf = o.env.appendFrame(o.buf, o.enc, typ, object)
	if len(o.buf) >= watchChunk {
		o.drain()
	}
	return o.err == nil
}

// bookmark writes a frame that says: everything up to the RV was sent.
func (o *watchWriter) bookmark(rv uint64, endOfInitial bool) {
	obj := o.res.newObject()
	m := obj.(metav1.Object)
	m.SetResourceVersion(formatRV(rv))
	if endOfInitial {
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	o.event(typeBookmark, &body{res: o.res, obj: obj})
}

// error writes the frame that ends a stream which cannot go on.
func (o *watchWriter) error(err error) {
	status := statusOf(err)
	env := envelope{apiVersion: "v1", kind: "Status"}
	var object []byte
	if o.enc.proto() {
		status.TypeMeta = metav1.TypeMeta{}
		object, o.err = status.Marshal()
	} else {
		object, o.err = marshalJSON(status)
	}
	o.buf = env.appendFrame(o.buf, o.enc, typeError, object)
}

// flush hands everything written so far to the client.
func (o *watchWriter) flush() {
	if o.err != nil || len(o.buf) == 0 && o.z == nil {
		return
	}
	o.drain()
	start := time.Now()
	if o.z != nil && o.err == nil {
		// Flush before Close: a reader would hold the last event back until the
		// next member otherwise.
		if o.err = o.z.Flush(); o.err == nil {
			o.endMember()
		}
	}
	if o.err == nil {
		o.err = o.flusher.Flush()
	}
	o.spent += time.Since(start)
}

func (o *watchWriter) drain() {
	if o.err != nil || len(o.buf) == 0 {
		return
	}
	start := time.Now()
	if o.gzips != nil {
		if o.z == nil {
			o.z = o.gzips.get(o.w)
		}
		_, o.err = o.z.Write(o.buf)
	} else {
		_, o.err = o.w.Write(o.buf)
	}
	o.spent += time.Since(start)
	o.buf = o.buf[:0]
}

func (o *watchWriter) endMember() {
	if err := o.z.Close(); o.err == nil {
		o.err = err
	}
	o.gzips.put(o.z)
	o.z = nil
}

// takeBlocked returns the time spent writing since the last call.
func (o *watchWriter) takeBlocked() time.Duration {
	d := o.spent
	o.spent = 0
	return d
}

func (o *watchWriter) close() {
	if o.z != nil {
		o.endMember()
	}
}
