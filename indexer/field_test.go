package indexer

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func fieldPod() *corev1.Pod {
	start := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-0", Generation: 7,
			Labels:     map[string]string{"app": "web", "app.kubernetes.io/name": "shop", "empty": ""},
			Finalizers: []string{"a/b", "c/d"},
			OwnerReferences: []metav1.OwnerReference{
				{Kind: "ReplicaSet", Controller: new(true)}, {Kind: "Job"},
			},
		},
		Spec: corev1.PodSpec{
			HostNetwork: true,
			Containers: []corev1.Container{
				{Name: "web", Image: "web:1", Ports: []corev1.ContainerPort{{ContainerPort: 80}, {ContainerPort: 443}},
					Resources:     corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("500m")}},
					LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("http")}}}},
				{Name: "log", Image: "log:2"},
			},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", StartTime: &start},
	}
}

func TestFieldValues(t *testing.T) {
	pod := fieldPod()
	text, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	free := &unstructured.Unstructured{}
	if err := free.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path string
		want []string
		why  string
	}{
		{"status.podIP", []string{"10.0.0.1"}, "a string below a struct"},
		{"status.phase", []string{"Running"}, "a type of its own whose kind is string"},
		{"status.hostIP", nil, "an empty string is as good as unset"},
		{"status.startTime", []string{"2026-01-02T03:04:05Z"}, "a type that marshals to a string, behind a pointer"},
		{"metadata.deletionTimestamp", nil, "a nil pointer"},
		{"metadata.name", []string{"web-0"}, "an embedded struct with a name in JSON"},
		{"kind", []string{"Pod"}, "an embedded struct that JSON flattens"},
		{"metadata.generation", []string{"7"}, "a number"},
		{"metadata.ownerReferences.controller", []string{"true"}, "pointers in a list, one of them nil"},
		{"metadata.ownerReferences.kind", []string{"ReplicaSet", "Job"}, "every element of a list"},
		{"metadata.finalizers", []string{"a/b", "c/d"}, "a list of values at the end"},
		{"metadata.labels.app", []string{"web"}, "a key of a map"},
		{"metadata.labels[app]", []string{"web"}, "the same in brackets"},
		{"metadata.labels[app.kubernetes.io/name]", []string{"shop"}, "a key with dots"},
		{"metadata.labels.none", nil, "a key that is not there"},
		{"metadata.labels.empty", nil, "a key with an empty value"},
		{"metadata.annotations.none", nil, "a nil map"},
		{"spec.hostNetwork", []string{"true"}, "a boolean"},
		{"spec.containers.image", []string{"web:1", "log:2"}, "a field of every element"},
		{"spec.containers.ports.containerPort", []string{"80", "443"}, "a list in a list"},
		{"spec.containers.resources.limits.cpu", []string{"500m"}, "a map of values that marshal themselves"},
		{"spec.containers.livenessProbe.httpGet.port", []string{"http"}, "fields flattened inside of a list"},
		{"spec.nodeSelector.disk", nil, "a nil map of another path"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			f, err := CompileField[*corev1.Pod](tt.path)
			if err != nil {
				t.Fatalf("%v: %s", err, tt.why)
			}
			if got, err := f.Values(pod); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("typed: %q, %v; want %q: %s", got, err, tt.want, tt.why)
			}
			u, err := CompileField[*unstructured.Unstructured](tt.path)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := u.Values(free); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("unstructured: %q, %v; want %q: %s", got, err, tt.want, tt.why)
			}
			if got, err := f.Values(nil); got != nil || err != nil {
				t.Errorf("of a nil object: %q, %v", got, err)
			}
			if got, err := u.Values(nil); got != nil || err != nil {
				t.Errorf("of a nil object: %q, %v", got, err)
			}
		})
	}
}

func TestFieldErrors(t *testing.T) {
	for _, tt := range []struct{ path, at, reason, known, why string }{
		{"", "", "empty", "", "no path"},
		{".", "", "step is empty", "", "no steps"},
		{"status.", "status.", "step is empty", "", "nothing after the dot"},
		{"status..phase", "status.", "step is empty", "", "two dots"},
		{"[a]", "", "step is empty", "", "begins with a bracket"},
		{"metadata.labels[a", "metadata.labels", "not closed", "", "open bracket"},
		{"metadata.labels[]", "metadata.labels", "brackets are empty", "", "empty bracket"},
		{"metadata.labels[a]b", "metadata.labels[a]", "want a dot", "", "no dot after the bracket"},
		{"status.podIp", "status.podIp", "no such field", "podIP", "the names of JSON count, case included"},
		{"Status.PodIP", "Status", "no such field", "status", "not Go's names"},
		{"status.phase.x", "status.phase", "nothing below", "", "below a value"},
		{"status.startTime.Time", "status.startTime", "nothing below", "", "below a value that marshals itself"},
		{"metadata.labels.app.kubernetes.io/name", "metadata.labels.app", "nothing below", "", "a key with dots needs brackets"},
		{"status", "status", "must go on", "podIP", "ends at a struct"},
		{"spec.containers", "spec.containers", "must go on", "image", "ends at a list of structs"},
		{"metadata.labels", "metadata.labels", "must go on", "", "ends at a map"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			_, err := CompileField[*corev1.Pod](tt.path)
			var fe *FieldError
			if !errors.As(err, &fe) {
				t.Fatalf("%v is no FieldError: %s", err, tt.why)
			}
			if fe.At != tt.at || !strings.Contains(fe.Reason, tt.reason) || fe.Path != tt.path || fe.Type != "*v1.Pod" {
				t.Errorf("%+v, want at %q: %q: %s", fe, tt.at, tt.reason, tt.why)
			}
			if tt.known != "" && !slices.Contains(fe.Known, tt.known) {
				t.Errorf("known are %q, want %q among them", fe.Known, tt.known)
			}
			if _, err := FieldIndex[*corev1.Pod](tt.path); !errors.As(err, &fe) {
				t.Errorf("FieldIndex: %v", err)
			}
		})
	}
	if _, err := CompileField[metav1.Object]("metadata.name"); err == nil {
		t.Error("an interface has no fields")
	}
	if _, err := (Field[*corev1.Pod]{}).Values(fieldPod()); err == nil {
		t.Error("the zero Field has no values")
	}
}

func TestFieldErrorsOfContent(t *testing.T) {
	free := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(3), "odd": 3, "ratio": 0.5}}}
	for _, tt := range []struct{ path, reason, why string }{
		{"spec", "must go on", "ends at a map"},
		{"spec.size.x", "nothing below", "below a value"},
		{"spec.odd", "not a value of decoded JSON", "an int is never decoded"},
	} {
		f, err := CompileField[*unstructured.Unstructured](tt.path)
		if err != nil {
			t.Fatal(err)
		}
		var fe *FieldError
		if _, err := f.Values(free); !errors.As(err, &fe) || !strings.Contains(fe.Reason, tt.reason) || fe.Path != tt.path {
			t.Errorf("%s: %v, want %q: %s", tt.path, err, tt.reason, tt.why)
		}
	}
	f, _ := CompileField[*unstructured.Unstructured]("spec.ratio")
	if got, err := f.Values(free); err != nil || !slices.Equal(got, []string{"0.5"}) {
		t.Errorf("%q, %v", got, err)
	}
}

type knot struct {
	metav1.ObjectMeta `json:"metadata"`
	*Loop             // JSON flattens it, for ever
	inner
	Raw      []byte `json:"raw"`
	Plain    string
	hidden   string
	Skipped  string         `json:"-"`
	Any      any            `json:"any"`
	ByNumber map[int]string `json:"byNumber"`
}

type Loop struct{ *Loop }

type inner struct {
	Flat string `json:"flat"`
}

func TestFieldOddTypes(t *testing.T) {
	n := &knot{Raw: []byte("hi"), Plain: "x", hidden: "h", inner: inner{"f"}, ByNumber: map[int]string{1: "a"}}
	for path, want := range map[string]string{"raw": "aGk=", "Plain": "x", "flat": "f"} {
		f, err := CompileField[*knot](path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Values(n); err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"hidden", "Skipped", "-", "any.x", "any", "byNumber.1", "Loop", "inner", "nothing"} {
		if _, err := CompileField[*knot](path); err == nil {
			t.Errorf("%s: compiled", path)
		}
	}
}

// Whatever the path, there is an answer or a FieldError.
func FuzzField(f *testing.F) {
	f.Add("metadata.labels[app.kubernetes.io/name]")
	f.Add("spec.containers.ports.containerPort")
	f.Add("a[b]c..d[")
	pod := fieldPod()
	text, _ := json.Marshal(pod)
	free := &unstructured.Unstructured{}
	if err := free.UnmarshalJSON(text); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string) {
		var fe *FieldError
		typed, err := CompileField[*corev1.Pod](path)
		if err != nil && !errors.As(err, &fe) {
			t.Fatal(err)
		}
		untyped, uerr := CompileField[*unstructured.Unstructured](path)
		if err != nil || uerr != nil {
			if err == nil {
				t.Fatalf("well-formed for one type only: %v", uerr)
			}
			return
		}
		if _, err := typed.Values(pod); err != nil && !errors.As(err, &fe) {
			t.Fatal(err)
		}
		if _, err := untyped.Values(free); err != nil && !errors.As(err, &fe) {
			t.Fatal(err)
		}
	})
}
