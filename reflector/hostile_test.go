package reflector

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Nesting has an end: an object of brackets alone is an error, not a stack that
// grows with what a server cares to send.
func TestF46_DeepNesting(t *testing.T) {
	const depth = 1 << 20
	deep := `{"metadata":{"name":"a"},"x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
	list := `{"kind":"WidgetList","metadata":{"resourceVersion":"7"},"items":[` + deep + `]}`
	src := sourceOf(t, answer(200, nil, strings.NewReader(list)), widgetsGVR, SourceOptions[*unstructured.Unstructured]{})
	_, _, err := listAll(t, src)
	if _, ok := errors.AsType[*DecodeError](err); !ok || !strings.Contains(err.Error(), "depth") {
		t.Errorf("a list: %v", err)
	}
	watch := `{"type":"ADDED","object":` + deep + `}`
	if _, err := frames(strings.NewReader(watch), defaultMaxBytes); err == nil || !strings.Contains(err.Error(), "depth") {
		t.Errorf("a watch: %v", err)
	}
	if _, err := peekJSON([]byte(deep)); err == nil {
		t.Error("a peek takes it")
	}
}

// The same in protobuf. What Kubernetes generates recurses without a limit, so
// that an object of six megabytes ended the process, if its type holds itself.
func TestF46_DeepMessages(t *testing.T) {
	for _, c := range []struct {
		depth int
		deep  bool
	}{{1, false}, {maxDepth - 1, false}, {maxDepth + 1, true}, {1 << 20, true}} {
		meta := pbBytes(objectMetadata, pbString(metaName, "a"), pbString(metaUID, "u"), pbString(metaVersion, "5"))
		raw := append(meta, pbNested(50, c.depth)...)
		d := newObjectDecoder(func() *corev1.Pod { return new(corev1.Pod) }, nil, nil)
		it, bad, err := d.decode(raw, encProtobuf, metav1.TypeMeta{})
		if err != nil || it.Key.Name != "a" || (bad != nil) != c.deep {
			t.Errorf("%d levels: %v, %v, %v", c.depth, it.Key, bad, err)
		}
	}
	text := append(pbBytes(objectMetadata, pbString(metaName, "a")), pbString(50, strings.Repeat("\n", 1<<20))...)
	if tooDeep(text, maxDepth) {
		t.Error("a megabyte of empty lines is taken for nested")
	}
}

// pbNested is a field that holds itself, and so on.
func pbNested(num, depth int) []byte {
	tag := pbVarint(uint64(num<<3 | wireBytes))
	var parts [][]byte
	for size := 0; depth > 0; depth-- {
		part := append(bytes.Clone(tag), pbVarint(uint64(size))...)
		parts = append(parts, part)
		size += len(part)
	}
	slices.Reverse(parts)
	return bytes.Join(parts, nil)
}

// TestF46_FrameBeyondTheCap: 17 MiB where 16 are allowed. Protobuf says so in
// front, and nothing is read. JSON doesn't: what has been read stays below
// the cap.
func TestF46_FrameBeyondTheCap(t *testing.T) {
	const size = 17 << 20
	json := `{"type":"ADDED","object":{"metadata":{"name":"a"},"x":"` + strings.Repeat("x", size) + `"}}`
	proto := append([]byte{0x01, 0x10, 0, 0}, make([]byte, size)...)
	for _, c := range []struct {
		why  string
		body []byte
		most uint64
	}{
		// The last doubling is to twice the cap; all before it are as much together.
		{"json", []byte(json), 4*defaultMaxBytes + 64<<10},
		{"protobuf", proto, 64 << 10},
	} {
		var err error
		mayAllocate(t, c.most, func() { _, err = frames(bytes.NewReader(c.body), defaultMaxBytes) })
		if err == nil {
			t.Errorf("%s: taken", c.why)
		}
		if _, ok := errors.AsType[*DecodeError](err); !ok {
			t.Errorf("%s: %v", c.why, err)
		}
	}
}

// TestLongErrorTexts: what an error quotes of an answer is bounded (R11). A
// number of a megabyte came back as an error of a megabyte, for each object.
func TestLongErrorTexts(t *testing.T) {
	const most = 2000
	long := strings.Repeat("9", 1<<20)
	object := `{"metadata":{"name":"a","uid":"u","resourceVersion":"5"},"x":1` + long + `e99999}`
	short := func(what string, err error) {
		t.Helper()
		if err == nil || len(err.Error()) > most {
			t.Errorf("%s: %.100v", what, err)
		}
	}
	json := func(body string) error {
		src := sourceOf(t, answer(200, nil, strings.NewReader(body)), widgetsGVR, SourceOptions[*unstructured.Unstructured]{})
		_, meta, err := listAll(t, src)
		if err == nil && len(meta.Quarantined) == 1 {
			err = meta.Quarantined[0].Err
		}
		return err
	}
	short("an object", json(`{"kind":"WidgetList","metadata":{"resourceVersion":"7"},"items":[`+object+`]}`))
	short("a count", json(`{"kind":"WidgetList","metadata":{"remainingItemCount":1`+long+`},"items":[]}`))
	short("a refusal", json(`{"kind":"Status","status":"Failure","reason":"`+long+`","message":"`+long+`"}`))
	_, err := frames(bytes.NewReader(pbFrame(pbString(1, "ADDED"), pbBytes(2, pbBytes(1, []byte(protobufMagic), pbString(envelopeEncoding, long))))), defaultMaxBytes)
	short("an encoding", err)
	_, _, err = names(bytes.NewReader(append([]byte(protobufMagic), pbString(envelopeType, long)...)), defaultMaxBytes)
	short("a type", err)
	short("a list's version", faultNoVersion.err(long))
	short("an event's version", faultUnplaced.err(long))
}
