package informer_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/object"
)

func TestLister(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		for _, p := range []pod{
			newPod("a", "one", "Running"), newPod("a", "two", "Pending"),
			newPod("a-b", "three", "Running"), newPod("b", "four", ""),
		} {
			if p.Name == "three" {
				p.Labels["app"] = "db"
			}
			if _, err := server.Create(podsGVR, p); err != nil {
				t.Fatal(err)
			}
		}
		f, pods := podInformer(t, server)
		start(t, f)
		lister := pods.Lister()

		for _, tt := range []struct {
			namespace string
			opts      metav1.ListOptions
			want      []string
			why       string
		}{
			{"", metav1.ListOptions{}, []string{"three", "one", "two", "four"}, "all, in the server's order"},
			{"a", metav1.ListOptions{}, []string{"one", "two"}, "one namespace, not its prefix"},
			{"none", metav1.ListOptions{}, nil, "a namespace without objects"},
			{"", metav1.ListOptions{FieldSelector: "status.phase=Running"}, []string{"three", "one"}, "by a field"},
			{"", metav1.ListOptions{FieldSelector: "status.phase!=Running"}, []string{"two", "four"}, "by a field that differs"},
			{"", metav1.ListOptions{FieldSelector: "status.phase="}, []string{"four"}, "an absent field is empty"},
			{"", metav1.ListOptions{FieldSelector: "spec.containers.image=example/web:1"}, []string{"three", "one", "two", "four"}, "through a list"},
			{"", metav1.ListOptions{LabelSelector: "app in (db)"}, []string{"three"}, "by label"},
			{"", metav1.ListOptions{LabelSelector: "app=web", FieldSelector: "status.phase=Running,metadata.namespace=a"}, []string{"one"}, "all conditions hold"},
			{"", metav1.ListOptions{ResourceVersion: "0"}, []string{"three", "one", "two", "four"}, "any version will do"},
		} {
			var got []pod
			var err error
			if tt.namespace == "" {
				got, err = lister.List(tt.opts)
			} else {
				got, err = lister.Namespace(tt.namespace).List(tt.opts)
			}
			var names []string
			for _, p := range got {
				names = append(names, p.Name)
			}
			if err != nil || !slices.Equal(names, tt.want) {
				t.Errorf("%s: %v, %v; want %v", tt.why, names, err, tt.want)
			}
		}

		for _, opts := range []metav1.ListOptions{
			{FieldSelector: "status.fase=Running"}, {FieldSelector: "status.phase"}, {LabelSelector: "!!"},
			{Limit: -1}, {Continue: "x"}, {Watch: true}, {ResourceVersion: "7777777"}, {ResourceVersion: "x"}, {ShardSelector: "x"},
			{ResourceVersion: "1", ResourceVersionMatch: "Exact"}, {ResourceVersion: "1", ResourceVersionMatch: "Roughly"}, {ResourceVersionMatch: "Exact"},
		} {
			_, err := lister.List(opts)
			var optErr *informer.ListOptionsError
			if !errors.As(err, &optErr) {
				t.Errorf("%+v: error %v, want a *ListOptionsError", opts, err)
			}
		}

		if p, err := lister.Namespace("a").Get("one"); err != nil || p.Name != "one" {
			t.Errorf("Get: %v, %v", p, err)
		}
		_, err := lister.Get(object.Key{Namespace: "a", Name: "none"})
		var status apierrors.APIStatus
		if !apierrors.IsNotFound(err) || !errors.As(err, &status) || err.Error() != `pods "a/none" not found` {
			t.Errorf("Get of what isn't there: %v, want NotFound", err)
		} else if d := status.Status().Details; d.Kind != "pods" || d.Name != "none" {
			t.Errorf("details %+v, want those that a server gives", d)
		}
	})
}
