package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"informer.example/object"
)

// Encoding is how objects are asked for.
type Encoding uint8

// The encodings. What the server answers decides how the answer is decoded.
const (
	// EncodingAuto asks for protobuf first when T has it, and for JSON otherwise.
	EncodingAuto Encoding = iota
	EncodingJSON
	EncodingProtobuf
)

// SourceOptions changes how an [HTTPSource] asks and decodes.
type SourceOptions[T metav1.Object] struct {
	Namespace     string // "" for all, or for a cluster-scoped resource
	LabelSelector string
	FieldSelector string
	Encoding      Encoding
	// Shard limits the source to a part of the objects.
	Shard Shard
	// KeyFunc replaces [object.KeyOf]. With it, an object that can't be decoded
	// fails the whole list, since its key can't be known.
	KeyFunc object.KeyFunc[T]
	// Transform is called exactly once for each object received, before
	// anything else sees it. It may change the object or return another. An
	// error, or nil, quarantines the object. It may run on several goroutines.
	Transform func(T) (T, error)
	// MaxItemBytes caps one object of a list, MaxFrameBytes one watch event:
	// 16 MiB each if 0. They act while reading.
	MaxItemBytes, MaxFrameBytes int
	// New makes an empty object. It may be nil when T is a pointer to a struct.
	New func() T
}

const defaultMaxBytes = 16 << 20

// HTTPSource lists and watches one resource of an API server. It is a [Source].
type HTTPSource[T metav1.Object] struct {
	client  *http.Client
	base    url.URL // of the resource, without a query
	gvr     schema.GroupVersionResource
	opts    SourceOptions[T]
	objects objectDecoder[T]
	accept  accept
	// refusedProtobuf is set by the first 406 or 415: from then on only JSON
	// is asked for.
	refusedProtobuf *atomic.Bool
	begin           func() Stored[T] // nil: nothing is reused
}

// NewHTTPSource makes a source for the resource. Address, credentials, TLS and
// proxies are those of cfg; its timeout, rate limits and content types aren't
// used. Requests are sent once: whether to try again is the caller's decision.
// Redirects aren't followed, so that credentials go nowhere else.
func NewHTTPSource[T metav1.Object](cfg *rest.Config, gvr schema.GroupVersionResource, opts SourceOptions[T]) (*HTTPSource[T], error) {
	s := &HTTPSource[T]{gvr: gvr, opts: opts, refusedProtobuf: new(atomic.Bool)}
	if err := s.init(cfg); err != nil {
		return nil, fmt.Errorf("source for %s: %w", gvr.GroupResource(), err)
	}
	return s, nil
}

func (s *HTTPSource[T]) init(cfg *rest.Config) error {
	newT, err := constructor(s.opts.New)
	if err != nil {
		return err
	}
	s.objects = newObjectDecoder(newT, s.opts.KeyFunc, s.opts.Transform)
	if s.accept, err = acceptFor(newT(), s.opts.Encoding); err != nil {
		return err
	}
	if s.opts.MaxItemBytes <= 0 {
		s.opts.MaxItemBytes = defaultMaxBytes
	}
	if s.opts.MaxFrameBytes <= 0 {
		s.opts.MaxFrameBytes = defaultMaxBytes
	}
	if err := s.opts.Shard.validate(); err != nil {
		return err
	}
	if _, err := labels.Parse(s.opts.LabelSelector); err != nil {
		return fmt.Errorf("label selector %q: %w", s.opts.LabelSelector, err)
	}
	if _, err := fields.ParseSelector(s.opts.FieldSelector); err != nil {
		return fmt.Errorf("field selector %q: %w", s.opts.FieldSelector, err)
	}

	cfg = rest.CopyConfig(cfg)
	if cfg.UserAgent == "" {
		cfg.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	s.client = &http.Client{
		Transport: client.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	return s.address(cfg)
}

// address sets the URL of the resource.
func (s *HTTPSource[T]) address(cfg *rest.Config) error {
	switch {
	case s.gvr.Resource == "" || s.gvr.Version == "":
		return errors.New("a resource and its version must be given, such as pods and v1")
	case strings.Contains(s.gvr.Resource, "/"):
		return errors.New("a subresource can't be listed")
	}
	group := s.gvr.GroupVersion()
	cfg.GroupVersion, cfg.APIPath = &group, "/apis"
	if s.gvr.Group == "" {
		cfg.APIPath = "/api"
	}
	base, apiPath, err := rest.DefaultServerUrlFor(cfg)
	switch {
	case err != nil && strings.Contains(cfg.Host, "@"):
		return errors.New("the address, which isn't shown since it holds credentials, isn't a URL or a host:port pair") // R12
	case err != nil:
		return err
	}
	segments := []string{apiPath}
	if s.opts.Namespace != "" {
		segments = append(segments, "namespaces", s.opts.Namespace)
	}
	segments = append(segments, s.gvr.Resource)
	for _, segment := range append(segments[1:], s.gvr.Group, s.gvr.Version) {
		if msgs := content.IsPathSegmentName(segment); len(msgs) > 0 {
			return fmt.Errorf("%q %s", segment, strings.Join(msgs, ", "))
		}
	}
	s.base = *base.JoinPath(segments...)
	return nil
}

// constructor returns newT, or a constructor for a T that is a pointer to a
// struct.
func constructor[T metav1.Object](newT func() T) (func() T, error) {
	if newT != nil {
		return newT, nil
	}
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s isn't a pointer to a struct: SourceOptions.New must say how to make one", t)
	}
	return func() T { return reflect.New(t.Elem()).Interface().(T) }, nil
}

// List implements [Source].
func (s *HTTPSource[T]) List(ctx context.Context, opts ListOptions, yield func(object.Item[T]) error) (ListMeta, error) {
	body, trace, err := s.get(ctx, opList, s.listQuery(opts))
	if err != nil {
		return ListMeta{}, err
	}
	defer body.Close()
	meta, err := s.readList(body, trace, yield)
	if stop, ok := errors.AsType[*yieldError](err); ok {
		err = stop.err
	} else if err != nil {
		err = s.failure(opList, err)
	}
	trace.ended(err)
	if err != nil {
		return ListMeta{}, err
	}
	return meta, nil
}

// yieldError carries an error of the caller's yield past those of the wire.
type yieldError struct{ err error }

func (e *yieldError) Error() string { return e.err.Error() }

// readList reads one page. Objects that can't be used are set aside with their
// keys.
func (s *HTTPSource[T]) readList(body io.Reader, trace *tracer, yield func(object.Item[T]) error) (ListMeta, error) {
	var aside []Quarantine
	reused, known := 0, s.reuse()
	use := func(raw []byte, enc encoding, kind metav1.TypeMeta) error {
		if s.opts.Shard.foreign(raw, enc) {
			return nil
		}
		received := trace.received(0, len(raw))
		item, ok := known.find(raw, enc)
		if ok {
			reused++
			trace.decoded(0, len(raw), received, item.Key, item.UID, item.ResourceVersion, true, nil)
		} else {
			var bad, err error
			item, bad, err = s.objects.decode(raw, enc, kind)
			if err != nil {
				return err
			}
			trace.decoded(0, len(raw), received, item.Key, item.UID, item.ResourceVersion, false, bad)
			if bad != nil {
				aside = append(aside, Quarantine{Key: item.Key, UID: item.UID, ResourceVersion: item.ResourceVersion, Err: bad})
				return nil
			}
		}
		if err := yield(item); err != nil {
			return &yieldError{err}
		}
		return nil
	}
	head, err := decodeList(body, s.opts.MaxItemBytes, use)
	if err != nil {
		return ListMeta{}, err
	}
	return ListMeta{
		ResourceVersion:    head.resourceVersion,
		Continue:           head.token,
		RemainingItemCount: head.remaining,
		Quarantined:        aside,
		Reused:             reused,
	}, nil
}

// Watch implements [Source].
func (s *HTTPSource[T]) Watch(ctx context.Context, opts WatchOptions) (Stream[T], error) {
	ctx, cancel := context.WithCancel(ctx)
	body, trace, err := s.get(ctx, opWatch, s.watchQuery(opts))
	if err != nil {
		cancel()
		return nil, err
	}
	stream := newHTTPStream(s, body, trace, cancel)
	if opts.SendInitialEvents {
		stream.known = s.reuse()
	}
	return stream, nil
}
