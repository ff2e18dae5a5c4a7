package reflector

import (
	"encoding/json"
	"testing"

	gojson "github.com/go-json-experiment/json"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
)

func FuzzPeekJSON(f *testing.F) {
	for _, c := range jsonCases {
		f.Add([]byte(c.raw))
	}
	for _, raw := range []string{
		`{"metadata":{"name":"a\u0062","namespace":"\ud800","uid":"ü","resourceVersion":"7"}}`,
		`{"metadata":{"name":"a"},"metadata":{"name":null,"uid":"u"},"metadata":null}`,
		`{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"},"name":7}}`,
		"{\"metadata\":{\"name\":\"\xff\",\"n\\u0061me\":\"b\"}}",
	} {
		f.Add([]byte(raw))
	}
	raw, err := json.Marshal(apisim.RealisticPod(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var id identity
		var err error
		// A name of invalid UTF-8 becomes three times as long, in a slice that
		// doubles; everything else costs nothing.
		mayAllocate(t, 64<<10+64*uint64(len(raw)), func() { id, err = peekJSON(raw) })
		checkPeek(t, raw, encJSON, id, err)
		var p jsonPeeker
		p.namesItsKind(raw)
		// Early, with the same reader: the same if nothing is said twice.
		early, earlyErr := p.identity(raw, true)
		switch {
		case err == nil && earlyErr != nil:
			t.Fatalf("early: %v", earlyErr)
		case err == nil && namesOnce(raw) && !sameIdentity(early, id):
			t.Fatalf("got %+v, and early %+v", id, early)
		}
	})
}

func FuzzPeekProto(f *testing.F) {
	f.Add(pbPod(f, "a"))
	f.Add(append(pbPod(f, "a"), pbPod(f, "b")...))
	pod, err := apisim.RealisticPod(1).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pod)
	f.Add(pbBytes(objectMetadata, pbBytes(metaAnnotations, pbString(1, metav1.InitialEventsAnnotationKey), pbString(2, "true"))))
	f.Add([]byte{objectMetadata<<3 | wireBytes, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var id identity
		var err error
		mayAllocate(t, 4<<10, func() { id, err = peekProto(raw) })
		checkPeek(t, raw, encProtobuf, id, err)
	})
}

// checkPeek: what can be decoded has the identity that was peeked. A peek may
// fail where the decoder doesn't: on groups, an old form of protobuf that
// Kubernetes never used. The object is then decoded, as it would be anyway.
func checkPeek(t *testing.T, raw []byte, enc encoding, id identity, err error) {
	t.Helper()
	d := newObjectDecoder(func() *metav1.PartialObjectMetadata { return new(metav1.PartialObjectMetadata) }, nil, nil)
	obj, bad := d.unmarshal(raw, enc)
	if bad != nil || enc == encProtobuf && err != nil {
		return
	}
	if err != nil {
		t.Fatalf("decoded as %+v, but peek says %v", obj, err)
	}
	want := identity{
		namespace: []byte(obj.Namespace), name: []byte(obj.Name), uid: []byte(obj.UID), resourceVersion: []byte(obj.ResourceVersion),
		initialEventsEnd: obj.Annotations[metav1.InitialEventsAnnotationKey] == "true",
	}
	sameEnd := id.initialEventsEnd == want.initialEventsEnd || enc == encJSON && !namesOnce(raw)
	if !sameIdentity(id, want) || !sameEnd {
		t.Fatalf("decoded %+v, peeked %+v", want, id)
	}
	pod := newObjectDecoder(func() *corev1.Pod { return new(corev1.Pod) }, nil, nil)
	if p, bad := pod.unmarshal(raw, enc); bad == nil && p.Name != string(id.name) {
		t.Fatalf("decoded as pod %q, peeked %q", p.Name, id.name)
	}
}

func sameIdentity(a, b identity) bool {
	return string(a.namespace) == string(b.namespace) && string(a.name) == string(b.name) && string(a.uid) == string(b.uid) &&
		string(a.resourceVersion) == string(b.resourceVersion)
}

// namesOnce reports whether no object in the text has two members of one name.
func namesOnce(raw []byte) bool {
	return gojson.Unmarshal(raw, new(any)) == nil
}
