package reflector

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	gojson "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"informer.example/apisim"
)

// widget is a user's own struct: some of everything that JSON tags can say.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Size   int64             `json:"size"`
		Ratio  float64           `json:"ratio"`
		Any    any               `json:"any"`
		Free   map[string]any    `json:"free"`
		Labels map[string]string `json:"labels"`
		Data   []byte            `json:"data"`
		Quoted int               `json:"quoted,string"`
		Fixed  [2]int            `json:"fixed"`
		Ptr    *string           `json:"ptr"`
		List   []any             `json:"list"`
		Raw    json.RawMessage   `json:"raw"`
		Bytes  map[string][]byte `json:"bytes"`
	} `json:"spec"`
}

// The oracle is the decoder that client-go uses.
func sameAsOracle[T any](t *testing.T, raw []byte) {
	t.Helper()
	var want T
	wantErr := kjson.Unmarshal(raw, &want)
	ptr, gotErr := decodeJSON(raw, func() *T { return new(T) }, jsonTarget)
	got := *ptr
	if (wantErr == nil) != (gotErr == nil) {
		t.Fatalf("%T: error %v, client-go's decoder says %v\n%s", got, gotErr, wantErr, raw)
	}
	if wantErr != nil {
		return
	}
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("%T of %s:\n%s", got, raw, cmp.Diff(want, got))
	}
}

var jsonCases = []struct{ why, raw string }{
	{"integers stay integers in an any", `{"spec":{"any":{"i":1,"neg":-7,"big":9223372036854775807,"over":9223372036854775808,"f":1.5,"e":1e3,"z":-0,"one":1.0}}}`},
	{"names match exactly", `{"Metadata":{"name":"a"},"spec":{"SIZE":1,"Size":2,"size":3}}`},
	{"the last of two equal names wins", `{"metadata":{"name":"a","name":"b"},"spec":{"size":1,"size":2,"any":1,"any":"x","labels":{"a":"1"},"labels":{"b":"2"}}}`},
	{"equal names in a free map", `{"spec":{"free":{"a":{"x":1},"a":{"y":2}},"any":{"a":[1],"a":{}}}}`},
	{"null leaves things as they are", `{"metadata":null,"spec":{"size":null,"any":null,"free":null,"labels":null,"data":null,"ptr":null,"list":null,"raw":null}}`},
	{"null inside", `{"spec":{"free":{"a":null},"list":[null,1],"labels":{"a":null},"bytes":{"a":null}}}`},
	{"base64", `{"spec":{"data":"aGVsbG8=","bytes":{"a":"","b":"AAEC"}}}`},
	{"base64 with a line break", `{"spec":{"data":"aGVs\nbG8="}}`},
	{"bad base64", `{"spec":{"data":"!"}}`},
	{"invalid UTF-8 is replaced", "{\"spec\":{\"any\":\"a\xffb\",\"labels\":{\"\xff\":\"\xfe\"}}}"},
	{"lone surrogates", `{"spec":{"any":"\ud800","labels":{"a":"\ud83d\ude00"}}}`},
	{"quoted numbers", `{"spec":{"quoted":"12"}}`},
	{"a quoted number unquoted", `{"spec":{"quoted":12}}`},
	{"an array that is too short, and too long", `{"spec":{"fixed":[1]}}`},
	{"an array that is too long", `{"spec":{"fixed":[1,2,3]}}`},
	{"wrong types", `{"spec":{"size":"x"}}`},
	{"a float for an integer", `{"spec":{"size":1.5}}`},
	{"an integer with exponent", `{"spec":{"size":1e2}}`},
	{"overflow", `{"spec":{"size":9223372036854775808}}`},
	{"a huge float", `{"spec":{"ratio":1e999}}`},
	{"a huge float in an any", `{"spec":{"any":1e999}}`},
	{"unknown fields", `{"spec":{"what":{"ever":[1,{"a":2}]}},"status":3}`},
	{"times", `{"metadata":{"creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":null,"managedFields":[{"time":"2026-01-02T03:04:05Z","fieldsV1":{"f:a":{}}}]}}`},
	{"a bad time", `{"metadata":{"creationTimestamp":"yesterday"}}`},
	{"times written otherwise", `{"metadata":{"creationTimestamp":"2026-01-02T03:04:05.123456789+01:00","deletionTimestamp":"2026-01-02T03:04:05\u005a"},"status":{"startTime":null}}`},
	{"a time that isn't a string", `{"metadata":{"creationTimestamp":7}}`},
	{"a time that is no time", `{"metadata":{"creationTimestamp":{}}}`},
	{"a time that was there before", `{"metadata":{"creationTimestamp":"2026-01-02T03:04:05Z","creationTimestamp":null}}`},
	{"an empty time", `{"metadata":{"creationTimestamp":""}}`},
	{"not an object", `[]`},
	{"a string", `"x"`},
	{"null", `null`},
	{"trailing bytes", `{} {}`},
	{"cut", `{"spec":{`},
	{"raw messages", `{"spec":{"raw": { "a" : [1, 2] } }}`},
	{"deep", `{"spec":{"any":[[[[[[{"a":{"b":{"c":[1]}}}]]]]]]}}`},
	{"pod things", `{"metadata":{"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"x","name":"y","uid":"z","controller":true}]},"spec":{"containers":[{"name":"c","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"100m","memory":"1Gi","ephemeral-storage":5}},"livenessProbe":{"httpGet":{"port":"http"}},"readinessProbe":{"tcpSocket":{"port":8080}}}],"terminationGracePeriodSeconds":30},"status":{"podIPs":[{"ip":"1.2.3.4"}],"startTime":"2026-01-02T03:04:05Z"}}`},
	{"a bad quantity", `{"spec":{"containers":[{"resources":{"limits":{"cpu":"lots"}}}]}}`},
}

func TestJSONObjects_AsClientGoDecodesThem(t *testing.T) {
	for _, c := range jsonCases {
		t.Run(c.why, func(t *testing.T) {
			sameAsOracle[widget](t, []byte(c.raw))
			sameAsOracle[corev1.Pod](t, []byte(c.raw))
			sameAsOracle[map[string]any](t, []byte(c.raw))
			sameAsOracle[metav1.PartialObjectMetadata](t, []byte(c.raw))
		})
	}
}

func TestJSONObjects_RealisticPods(t *testing.T) {
	for i := range 20 {
		raw, err := json.Marshal(apisim.RealisticPod(i))
		if err != nil {
			t.Fatal(err)
		}
		sameAsOracle[corev1.Pod](t, raw)
		sameAsOracle[map[string]any](t, raw)
		sameAsOracle[widget](t, raw)
	}
}

// TestJSONObjects_UnsoundType: a type that the quick rules refuse is decoded
// by the others, as client-go would.
func TestJSONObjects_UnsoundType(t *testing.T) {
	type unsound struct {
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Zone time.Location `json:"zone"`
			B    int           `json:"b"`
		} `json:"spec"`
	}
	raw := []byte(`{"metadata":{"name":"x"},"spec":{"zone":{},"b":2}}`)
	if gojson.Unmarshal(raw, new(unsound), jsonQuick) == nil {
		t.Error("the quick rules take it: nothing is tested here")
	}
	sameAsOracle[unsound](t, raw)
}

func FuzzJSONObject(f *testing.F) {
	for _, c := range jsonCases {
		f.Add([]byte(c.raw))
	}
	raw, err := json.Marshal(apisim.RealisticPod(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		sameAsOracle[widget](t, raw)
		sameAsOracle[corev1.Pod](t, raw)
		sameAsOracle[map[string]any](t, raw)
	})
}

func BenchmarkJSONObject(b *testing.B) {
	raw, err := json.Marshal(apisim.RealisticPod(1))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("type=pod", func(b *testing.B) { benchmarkJSON[corev1.Pod](b, raw) })
	b.Run("type=meta", func(b *testing.B) { benchmarkJSON[metav1.PartialObjectMetadata](b, raw) })
	b.Run("type=unstructured", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := decodeJSON(raw, func() *unstructured.Unstructured { return new(unstructured.Unstructured) }, jsonTarget); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchmarkJSON[T any](b *testing.B, raw []byte) {
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeJSON(raw, func() *T { return new(T) }, jsonTarget); err != nil {
			b.Fatal(err)
		}
	}
}
