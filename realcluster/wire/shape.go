package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Shape returns an answer as text, one line a value, without what differs from one
// recording to the next: resourceVersions, UIDs, times, tokens, and numbers in
// messages. The order of JSON keys stays, as decoders depend on it. Bookmarks stand
// at the end, each form once: when and how often they come depends on timing. The
// one that ends the initial events keeps its place.
func Shape(e Exchange) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "status %d\n", e.Response.Status)
	for _, h := range []string{"Content-Type", "Content-Encoding", "Retry-After"} {
		fmt.Fprintf(&b, "%s: %s\n", h, e.Response.Header.Get(h))
	}
	frames, err := split(e)
	if err != nil {
		return "", fmt.Errorf("shape of %s: %w", e.Name, err)
	}
	var bookmarks []string
	for i, f := range frames {
		text, err := f.shape()
		if err != nil {
			return "", fmt.Errorf("shape of %s: frame %d: %w", e.Name, i, err)
		}
		if strings.Contains(text, "/type BOOKMARK\n") && !strings.Contains(text, marker) {
			if !slices.Contains(bookmarks, text) {
				bookmarks = append(bookmarks, text)
			}
			continue
		}
		fmt.Fprintf(&b, "---\n%s", text)
	}
	for _, text := range bookmarks {
		fmt.Fprintf(&b, "--- (at some time)\n%s", text)
	}
	return b.String(), nil
}

// frame is one value of a body: a whole list, or a watch event.
type frame struct {
	data  []byte
	event bool // a protobuf WatchEvent
	kind  string
}

// split unpacks a body and cuts it into frames.
func split(e Exchange) ([]frame, error) {
	data := e.Body
	name, packed := strings.CutSuffix(e.File, ".gz")
	if packed {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(io.LimitReader(z, bodyLimit)); err != nil {
			return nil, err
		}
	}
	switch {
	case strings.HasSuffix(name, ".frames.json"):
		return splitJSON(data)
	case strings.HasSuffix(name, ".frames.pb"):
		return splitProtobuf(data)
	case strings.HasSuffix(name, ".json"):
		return []frame{{data: data, kind: "json"}}, nil
	case strings.HasSuffix(name, ".pb"):
		return []frame{{data: data, kind: "pb"}}, nil
	}
	return []frame{{data: data, kind: "text"}}, nil
}

func splitJSON(data []byte) ([]frame, error) {
	var frames []frame
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return frames, nil
		}
		if err != nil {
			return nil, err
		}
		frames = append(frames, frame{data: raw, kind: "json"})
	}
}

func splitProtobuf(data []byte) ([]frame, error) {
	var frames []frame
	for len(data) > 0 {
		if len(data) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		n := binary.BigEndian.Uint32(data)
		data = data[4:]
		if uint64(n) > uint64(len(data)) {
			return nil, io.ErrUnexpectedEOF
		}
		frames = append(frames, frame{data: data[:n], kind: "pb", event: true})
		data = data[n:]
	}
	return frames, nil
}

func (f frame) shape() (string, error) {
	switch f.kind {
	case "text":
		return mask(string(f.data)) + "\n", nil
	case "json":
		return shapeJSON(f.data)
	}
	if !f.event {
		return shapeProtobuf(f.data)
	}
	var ev metav1.WatchEvent
	if err := ev.Unmarshal(f.data); err != nil {
		return "", fmt.Errorf("decode the watch event: %w", err)
	}
	object, err := shapeProtobuf(ev.Object.Raw)
	return "/type " + ev.Type + "\n" + object, err
}

// shapeProtobuf goes by way of JSON: the types know their field names.
func shapeProtobuf(data []byte) (string, error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(metav1.AddMetaToScheme(scheme))
	obj, gvk, err := protobuf.NewSerializer(scheme, scheme).Decode(data, nil, nil)
	if err != nil {
		return "", fmt.Errorf("decode the protobuf envelope: %w", err)
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return "", err
	}
	lines, err := shapeJSON(text)
	return "envelope " + gvk.String() + "\n" + lines, err
}

func shapeJSON(data []byte) (string, error) {
	var b strings.Builder
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := walk(dec, &b, "", ""); err != nil {
		return "", fmt.Errorf("walk the JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("walk the JSON: something follows the value")
	}
	return b.String(), nil
}

// walk writes the next value, whose path and last key are given.
func walk(dec *json.Decoder, b *strings.Builder, path, key string) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	switch tok {
	case json.Delim('{'):
		fmt.Fprintf(b, "%s {\n", path)
		for dec.More() {
			k, err := dec.Token()
			if err != nil {
				return err
			}
			name, _ := k.(string) // the decoder has seen to it that keys are strings
			if err := walk(dec, b, path+"/"+name, name); err != nil {
				return err
			}
		}
	case json.Delim('['):
		fmt.Fprintf(b, "%s [\n", path)
		for i := 0; dec.More(); i++ {
			if err := walk(dec, b, fmt.Sprintf("%s/%d", path, i), ""); err != nil {
				return err
			}
		}
	default:
		fmt.Fprintf(b, "%s %s\n", path, erase(key, tok))
		return nil
	}
	_, err = dec.Token() // the closing bracket
	return err
}

// erase replaces what differs between recordings.
func erase(key string, value any) string {
	text := fmt.Sprint(value)
	if value == nil || text == "" || text == "0" {
		return text // absence is part of the shape
	}
	switch key {
	case "resourceVersion":
		return "<rv>"
	case "uid":
		return "<uid>"
	case "creationTimestamp", "deletionTimestamp", "time":
		return "<time>"
	case "continue":
		return "<token>"
	case "message":
		return mask(text)
	}
	return text
}

func mask(s string) string { return regexp.MustCompile(`\d+`).ReplaceAllString(s, "<n>") }
