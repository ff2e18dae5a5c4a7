package reflector

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// names decodes a list and returns what it lent.
func names(body io.Reader, maxItem int) (names []string, head listHead, err error) {
	head, err = decodeList(body, maxItem, func(raw []byte, enc encoding, _ metav1.TypeMeta) error {
		id, err := peek(raw, enc)
		if err != nil {
			return &DecodeError{Err: err}
		}
		names = append(names, id.key().String())
		return nil
	})
	return names, head, err
}

// TestF23_ListCutAnywhere: whatever is missing of a list, it is no list.
func TestF23_ListCutAnywhere(t *testing.T) {
	rec := recording(t)
	for _, name := range []string{"pods-list-page3-json", "pods-list-page3-protobuf", "widgets-list-json", "pods-list-empty-json", "pods-list-empty-protobuf"} {
		body := bytes.TrimRight(rec[name].body, "\n")
		if _, _, err := names(bytes.NewReader(body), defaultMaxBytes); err != nil {
			t.Fatalf("%s whole: %v", name, err)
		}
		for n := 0; n < len(body); n++ {
			if n > 400 && n < len(body)-400 {
				n = min(n+22, len(body)-400) // the middle is all alike
			}
			_, _, err := names(bytes.NewReader(body[:n]), defaultMaxBytes)
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				if _, bad := errors.AsType[*DecodeError](err); !bad || n >= len(protobufMagic) {
					t.Fatalf("%s cut after %d of %d bytes: %v", name, n, len(body), err)
				}
			}
		}
	}
}

// TestListArrivesByteByByte: where reads end says nothing.
func TestListArrivesByteByByte(t *testing.T) {
	rec := recording(t)
	for _, name := range []string{"pods-list-page1-json", "pods-list-page1-protobuf", "widgets-list-json"} {
		want, wantHead, err := names(bytes.NewReader(rec[name].body), defaultMaxBytes)
		if err != nil {
			t.Fatal(err)
		}
		got, head, err := names(iotest.OneByteReader(bytes.NewReader(rec[name].body)), defaultMaxBytes)
		if err != nil || head != wantHead || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v %v %v", name, got, head, err)
		}
	}
}

func TestJSONList(t *testing.T) {
	const good = ""
	for _, c := range []struct {
		why, body string
		want      string // names
		rv, token string
		err       string
	}{
		{"metadata first", `{"kind":"PodList","metadata":{"resourceVersion":"7","continue":"c","remainingItemCount":3},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b","namespace":"n"}}]}`, "a n/b", "7", "c", good},
		{"metadata last", `{"items":[{"kind":"Pod","metadata":{"name":"a"}}],"metadata":{"resourceVersion":"7"}}`, "a", "7", "", good},
		{"items that need the list's kind, before it", `{"items":[{"metadata":{"name":"a"}},{"kind":"X","metadata":{"name":"b"}}],"kind":"XList"}`, "b a", "", "", good},
		{"F27: null items", `{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":null}`, "", "7", "", good},
		{"F27: an empty page with a token", `{"kind":"PodList","metadata":{"resourceVersion":"7","continue":"c"},"items":[]}`, "", "7", "c", good},
		{"unknown members", `{"kind":"PodList","extra":{"items":[{"metadata":{"name":"no"}}]},"items":[{"metadata":{"name":"a"}}],"more":[1,[2]],"metadata":{"resourceVersion":"7","what":1}}`, "a", "7", "", good},
		{"the last of two metadata wins", `{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[],"metadata":{"resourceVersion":"8"}}`, "", "8", "", good},
		{"space around", " \n\t{\"kind\":\"PodList\" , \"items\" : [ ] } \n", "", "", "", good},
		{"names match exactly", `{"kind":"PodList","Items":[{"metadata":{"name":"a"}}],"items":[],"Metadata":{"resourceVersion":"7"}}`, "", "", "", good},
		{"F24: a Status behind an item", `{"kind":"PodList","items":[{"metadata":{"name":"a"}},{"kind":"Status","metadata":{}}`, "a ", "", "", "cut"},
		{"F24: a Status after a cut item", `{"kind":"PodList","items":[{"metadata":{"name":"a"}},{"meta{"kind":"Status"}`, "a", "", "", "list item 1"},
		{"F24: a Status after the list", `{"kind":"PodList","items":[]}{"kind":"Status"}`, "", "", "", "follows its end"},
		{"garbage after the list", `{"kind":"PodList","items":[]}x`, "", "", "", "a list"},
		{"no items", `{"kind":"Pod","metadata":{"name":"a"}}`, "", "", "", `kind "Pod" without items`},
		{"an empty object", `{}`, "", "", "", "without items"},
		{"items that are no array", `{"kind":"PodList","items":{}}`, "", "", "", "items"},
		{"metadata of the wrong type", `{"kind":"PodList","metadata":{"resourceVersion":7},"items":[]}`, "", "", "", "metadata"},
		{"a kind of the wrong type", `{"kind":7,"items":[]}`, "", "", "", "kind"},
		{"an item that is no object", `{"kind":"PodList","items":[1]}`, "", "", "", "list item 0"},
		{"F8: HTML", `<html>`, "", "", "", "neither JSON nor protobuf"},
		{"nothing", ``, "", "", "", "empty"},
		{"only space", `   `, "", "", "", "cut"},
		{"an array", `[]`, "", "", "", "neither"},
		{"text", `404 page not found`, "", "", "", "neither"},
		{"CBOR", "\xd9\xd9\xf7\xa1", "", "", "", "neither"},
	} {
		t.Run(c.why, func(t *testing.T) {
			got, head, err := names(strings.NewReader(c.body), defaultMaxBytes)
			if c.err != good {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s := strings.Join(got, " "); s != c.want || head.resourceVersion != c.rv || head.token != c.token {
				t.Errorf("got %q %+v", s, head)
			}
		})
	}
}

// The pieces of protobuf lists.
func pbVarint(v uint64) []byte { return binary.AppendUvarint(nil, v) }

func pbBytes(num int, content ...[]byte) []byte {
	all := bytes.Join(content, nil)
	return append(binary.AppendUvarint(pbVarint(uint64(num)<<3|wireBytes), uint64(len(all))), all...)
}

func pbString(num int, s string) []byte { return pbBytes(num, []byte(s)) }

func pbEnvelope(kind string, raw ...[]byte) []byte {
	return bytes.Join([][]byte{[]byte(protobufMagic), pbBytes(1, pbString(1, "v1"), pbString(2, kind)), pbBytes(2, raw...), pbTrailer}, nil)
}

var pbTrailer = []byte{0x1a, 0, 0x22, 0}

func pbPod(t testing.TB, name string) []byte {
	p := corev1.Pod{}
	p.Name, p.UID, p.ResourceVersion = name, "u-"+"x", "5"
	raw, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func pbMeta(rv, token string) []byte {
	m := metav1.ListMeta{ResourceVersion: rv, Continue: token}
	raw, err := m.Marshal()
	if err != nil {
		panic(err)
	}
	return pbBytes(listMetadata, raw)
}

func TestProtoList(t *testing.T) {
	a, b := pbBytes(listItems, pbPod(t, "a")), pbBytes(listItems, pbPod(t, "b"))
	unknown := bytes.Join([][]byte{
		pbString(100, "x"), append(pbVarint(101<<3|wireVarint), 1),
		append(pbVarint(102<<3|wireFixed64), 1, 2, 3, 4, 5, 6, 7, 8), append(pbVarint(103<<3|wireFixed32), 1, 2, 3, 4),
	}, nil)
	typeMeta := pbBytes(1, pbString(1, "v1"), pbString(2, "PodList"))
	status := metav1.Status{Status: "Failure", Code: 403, Reason: metav1.StatusReasonForbidden, Message: "no"}
	statusRaw, _ := status.Marshal()
	magic := []byte(protobufMagic)
	const good = ""
	for _, c := range []struct {
		why   string
		body  [][]byte
		want  string
		rv    string
		token string
		err   string
	}{
		{"metadata first", [][]byte{pbEnvelope("PodList", pbMeta("7", "c"), a, b)}, "a b", "7", "c", good},
		{"F29: metadata last", [][]byte{pbEnvelope("PodList", a, b, pbMeta("7", ""))}, "a b", "7", "", good},
		{"F29: metadata twice", [][]byte{pbEnvelope("PodList", pbMeta("7", "c"), a, pbMeta("8", ""))}, "a", "8", "", good},
		{"F29: unknown fields everywhere", [][]byte{magic, unknown, typeMeta, pbBytes(2, unknown, a, unknown, pbMeta("7", ""), unknown), unknown, pbTrailer, unknown}, "a", "7", "", good},
		{"no items", [][]byte{pbEnvelope("PodList", pbMeta("7", ""))}, "", "7", "", good},
		{"an empty list", [][]byte{pbEnvelope("PodList")}, "", "", "", good},
		{"the kind after the list", [][]byte{magic, pbBytes(2, pbMeta("7", ""), a), typeMeta, pbTrailer}, "a", "7", "", good},
		{"F23d: no trailer", [][]byte{magic, typeMeta, pbBytes(2, a)}, "", "", "", "cut"},
		{"F23d: half a trailer", [][]byte{magic, typeMeta, pbBytes(2, a), pbTrailer[:2]}, "", "", "", "cut"},
		{"F24: a Status inside the list", [][]byte{magic, typeMeta, pbVarint(2<<3 | wireBytes), pbVarint(500), a, pbEnvelope("Status", statusRaw)}, "", "", "", "wire type"},
		{"a Status", [][]byte{pbEnvelope("Status", statusRaw)}, "", "", "", "no"},
		{"two lists in one", [][]byte{magic, typeMeta, pbBytes(2, a), pbBytes(2, b), pbTrailer}, "", "", "", "two objects"},
		{"an encoded content", [][]byte{magic, typeMeta, pbBytes(2, a), pbString(3, "gzip"), pbString(4, "")}, "", "", "", "gzip"},
		{"an item that reaches past the list", [][]byte{magic, typeMeta, pbVarint(2<<3 | wireBytes), pbVarint(uint64(len(a) - 1)), a, pbTrailer}, "", "", "", "past the end"},
		{"a bad wire type", [][]byte{magic, typeMeta, pbBytes(2, []byte{1<<3 | 7})}, "", "", "", "wire type 7"},
		{"a group", [][]byte{magic, typeMeta, pbBytes(2, []byte{1<<3 | 3})}, "", "", "", "wire type 3"},
		{"field 0", [][]byte{magic, typeMeta, pbBytes(2, []byte{0<<3 | 2, 0})}, "", "", "", "malformed"},
		{"an endless varint", [][]byte{magic, bytes.Repeat([]byte{0xff}, 20)}, "", "", "", "malformed"},
		{"bad metadata", [][]byte{pbEnvelope("PodList", pbBytes(listMetadata, []byte{0x12, 0x7f}))}, "", "", "", "metadata"},
		{"a bad item", [][]byte{pbEnvelope("PodList", pbBytes(listItems, []byte{0x0a, 0x7f}))}, "", "", "", "list item 0"},
		{"another magic", [][]byte{[]byte("k8s\x01abc")}, "", "", "", "neither"},
	} {
		t.Run(c.why, func(t *testing.T) {
			got, head, err := names(bytes.NewReader(bytes.Join(c.body, nil)), defaultMaxBytes)
			if c.err != good {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s := strings.Join(got, " "); s != c.want || head.resourceVersion != c.rv || head.token != c.token {
				t.Errorf("got %q %+v", s, head)
			}
		})
	}
	_, _, err := names(bytes.NewReader(pbEnvelope("Status", statusRaw)), defaultMaxBytes)
	if !apierrors.IsForbidden(err) {
		t.Errorf("a Status came as %v", err)
	}
}

// TestListItemCap: a cap acts while reading, and a length by itself costs nothing.
func TestListItemCap(t *testing.T) {
	const limit = 100 << 10
	json := func(n int) []byte {
		return []byte(`{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"},"x":"` + strings.Repeat("x", n) + `"},{"metadata":{"name":"b"}}]}`)
	}
	proto := func(n int) []byte {
		return pbEnvelope("PodList", pbMeta("7", ""), pbBytes(listItems, pbPod(t, "a"), pbString(50, strings.Repeat("x", n))), pbBytes(listItems, pbPod(t, "b")))
	}
	for name, body := range map[string]func(int) []byte{"json": json, "protobuf": proto} {
		if got, _, err := names(bytes.NewReader(body(limit-300)), limit); err != nil || len(got) != 2 {
			t.Errorf("%s below the cap: %v, %v", name, got, err)
		}
		// Read-ahead may let a little more through, never twice as much.
		for _, n := range []int{2 * limit, 50 * limit} {
			_, _, err := names(bytes.NewReader(body(n)), limit)
			size, ok := errors.AsType[*SizeError](err)
			if _, bad := errors.AsType[*DecodeError](err); !ok || !bad || size.Limit != limit || !strings.Contains(err.Error(), "MaxItemBytes") {
				t.Errorf("%s of %d bytes: %v", name, n, err)
			}
		}
	}

	hostile := map[string][]byte{
		"item":         append([]byte(protobufMagic), append(pbVarint(2<<3|wireBytes), append(pbVarint(1<<40), append(pbVarint(listItems<<3|wireBytes), pbVarint(15<<20)...)...)...)...),
		"typeMeta":     append([]byte(protobufMagic), append(pbVarint(1<<3|wireBytes), pbVarint(15<<20)...)...),
		"past the cap": append([]byte(protobufMagic), append(pbVarint(1<<3|wireBytes), pbVarint(1<<62)...)...),
		"skipped":      append([]byte(protobufMagic), append(pbVarint(9<<3|wireBytes), pbVarint(1<<63)...)...),
	}
	for name, body := range hostile {
		if got := allocated(func() { names(bytes.NewReader(body), defaultMaxBytes) }); got > 300<<10 {
			t.Errorf("%s: %d bytes allocated for a length without content", name, got)
		}
	}
}

// TestQuarantine: one bad object is set aside with its key; an object without
// a key fails the list.
func TestQuarantine(t *testing.T) {
	json := func(item string) []byte {
		return []byte(`{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"}},` + item + `,{"metadata":{"name":"c"}}]}`)
	}
	badPod := append(pbPod(t, "b"), pbBytes(2, []byte{0x12, 0x7f})...) // a spec that isn't one
	proto := pbEnvelope("PodList", pbMeta("7", ""), pbBytes(listItems, pbPod(t, "a")), pbBytes(listItems, badPod), pbBytes(listItems, pbPod(t, "c")))
	for _, c := range []struct {
		why  string
		body []byte
		opts SourceOptions[*corev1.Pod]
		keep bool // quarantined rather than failed
	}{
		{"a JSON item of the wrong type", json(`{"metadata":{"name":"b","uid":"u-x","resourceVersion":"5"},"spec":{"containers":7}}`), SourceOptions[*corev1.Pod]{}, true},
		{"a protobuf item that is cut inside", proto, SourceOptions[*corev1.Pod]{}, true},
		{"a transform that fails", json(`{"metadata":{"name":"b","uid":"u-x","resourceVersion":"5"}}`), SourceOptions[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			if p.Name == "b" {
				return nil, errors.New("no")
			}
			return p, nil
		}}, true},
		{"a transform that returns nil", json(`{"metadata":{"name":"b","uid":"u-x","resourceVersion":"5"}}`), SourceOptions[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			if p.Name == "b" {
				return nil, nil
			}
			return p, nil
		}}, true},
		{"no name", json(`{"metadata":{"uid":"u-x"}}`), SourceOptions[*corev1.Pod]{}, false},
		{"a bad item without a name", json(`{"metadata":{"uid":"u-x"},"spec":7}`), SourceOptions[*corev1.Pod]{}, false},
		{"metadata of the wrong type", json(`{"metadata":7}`), SourceOptions[*corev1.Pod]{}, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			items, meta, err := listAll(t, sourceOf(t, answer(200, nil, bytes.NewReader(c.body)), podsGVR, c.opts))
			if !c.keep {
				if _, ok := errors.AsType[*DecodeError](err); !ok || !strings.Contains(err.Error(), "list item 1") {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(items) != 2 || len(meta.Quarantined) != 1 {
				t.Fatalf("%d items, quarantined %+v", len(items), meta.Quarantined)
			}
			q := meta.Quarantined[0]
			if q.Key.Name != "b" || q.UID != "u-x" || q.ResourceVersion != "5" || q.Err == nil {
				t.Errorf("quarantined %+v", q)
			}
		})
	}
}

// TestUnstructuredWithoutKind: what the list says fills in what its items lack,
// in whatever order it says it. An apiVersion after the items was lost.
func TestUnstructuredWithoutKind(t *testing.T) {
	const items, version, kind, meta = `"items":[{"metadata":{"name":"a"}}]`, `"apiVersion":"g/v1"`, `"kind":"WidgetList"`, `"metadata":{"resourceVersion":"7"}`
	for _, order := range [][]string{{items, version, kind, meta}, {kind, items, version, meta}, {version, items, kind, meta}, {version, kind, meta, items}} {
		body := "{" + strings.Join(order, ",") + "}"
		items, _, err := listAll(t, sourceOf(t, answer(200, nil, strings.NewReader(body)), widgetsGVR, SourceOptions[*unstructured.Unstructured]{}))
		if err != nil || len(items) != 1 {
			t.Fatal(items, err)
		}
		if u := items[0].Object; u.GetKind() != "Widget" || u.GetAPIVersion() != "g/v1" {
			t.Errorf("%s: got %v", body, u.Object)
		}
	}
}
