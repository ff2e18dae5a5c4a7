package informer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/apisim"
	"informer.example/informer"
)

func names(pods []pod) (list []string) {
	for _, p := range pods {
		list = append(list, p.Name)
	}
	return list
}

// Pages of the present go on behind the last key, whatever happened since; pages
// at a snapshot are parts of one state.
func TestPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		for _, name := range []string{"b", "d", "f", "h"} {
			create(t, server, "default", name)
		}
		f, pods := podInformer(t, server)
		start(t, f)
		live, frozen := pods.Lister(), pods.Lister().At(pods.Snapshot())
		opts := metav1.ListOptions{Limit: 2}

		first, err := live.Page(opts)
		if err != nil || !slices.Equal(names(first.Items), []string{"b", "d"}) || *first.RemainingItemCount != 2 || first.ResourceVersion != server.ResourceVersion() {
			t.Fatalf("first page: %+v, %v", first, err)
		}
		fixed, err := frozen.Page(opts)
		if err != nil || fixed.Continue == first.Continue {
			t.Fatalf("the first page at a snapshot: %+v, %v", fixed, err)
		}
		if got, err := live.List(opts); err != nil || !slices.Equal(names(got), []string{"b", "d"}) {
			t.Errorf("List with a Limit: %v, %v; want the first two", names(got), err)
		}

		remove(t, server, "default", "d") // the key that the token stands for
		remove(t, server, "default", "h")
		create(t, server, "default", "a") // before the page's end: not seen
		create(t, server, "default", "e")
		synctest.Wait()
		opts.Continue = first.Continue
		if page, err := live.Page(opts); err != nil || !slices.Equal(names(page.Items), []string{"e", "f"}) || page.Continue != "" || page.ResourceVersion == first.ResourceVersion {
			t.Errorf("the present from there on: %v, %v", names(page.Items), err)
		}
		opts.Continue = fixed.Continue
		if page, err := frozen.Page(opts); err != nil || !slices.Equal(names(page.Items), []string{"f", "h"}) || page.ResourceVersion != first.ResourceVersion {
			t.Errorf("the rest of the snapshot: %v, %v", names(page.Items), err)
		}

		newer := pods.Lister().At(pods.Snapshot())
		for _, tt := range []struct {
			lister informer.Lister[pod]
			opts   metav1.ListOptions
			want   error
			why    string
		}{
			{newer, metav1.ListOptions{Limit: 2, Continue: fixed.Continue}, informer.ErrStaleContinue, "another snapshot"},
			{live, metav1.ListOptions{Limit: 2, Continue: fixed.Continue}, informer.ErrForeignContinue, "made at a snapshot, used on the present"},
			{newer, metav1.ListOptions{Limit: 2, Continue: first.Continue}, informer.ErrForeignContinue, "made on the present, used at a snapshot"},
			{live, metav1.ListOptions{Continue: first.Continue, LabelSelector: "app=web"}, informer.ErrForeignContinue, "another selector"},
			{live, metav1.ListOptions{Continue: "?"}, informer.ErrForeignContinue, "not base64"},
			{live, metav1.ListOptions{Continue: "e30"}, informer.ErrForeignContinue, "no version"},
			{live, metav1.ListOptions{Continue: strings.Repeat("e", 1<<20)}, informer.ErrForeignContinue, "too long to be one"},
		} {
			_, err := tt.lister.Page(tt.opts)
			var optErr *informer.ListOptionsError
			if !errors.Is(err, tt.want) || !errors.As(err, &optErr) || optErr.Option != "Continue" || len(err.Error()) > 500 {
				t.Errorf("%s: %v, want %v", tt.why, err, tt.want)
			}
		}
		if _, err := live.Namespace("default").Page(metav1.ListOptions{Continue: first.Continue}); !errors.Is(err, informer.ErrForeignContinue) {
			t.Errorf("another namespace: %v", err)
		}
	})
}

func TestListResourceVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		old := create(t, server, "default", "a").ResourceVersion
		now := setPhase(t, server, "default", "a", "Running").ResourceVersion
		f, pods := podInformer(t, server)
		start(t, f)
		for _, tt := range []struct {
			rv    string
			match metav1.ResourceVersionMatch
			ok    bool
			why   string
		}{
			{old, "", true, "the store is newer"},
			{now, metav1.ResourceVersionMatchNotOlderThan, true, "just as new"},
			{now, metav1.ResourceVersionMatchExact, true, "exactly the store's"},
			{old, metav1.ResourceVersionMatchExact, false, "a past that the store no longer has"},
			{now + "0", "", false, "the store is older"},
		} {
			got, err := pods.Lister().List(metav1.ListOptions{ResourceVersion: tt.rv, ResourceVersionMatch: tt.match})
			if (err == nil) != tt.ok || tt.ok && len(got) != 1 {
				t.Errorf("%s: %d objects, %v", tt.why, len(got), err)
			}
		}
		_, err := pods.Lister().List(metav1.ListOptions{ResourceVersion: now + "0"})
		var waitErr *informer.VersionWaitError
		if !errors.Is(err, informer.ErrBehind) || !errors.As(err, &waitErr) || waitErr.Have != now {
			t.Errorf("behind: %v", err)
		}
	})
}

func TestExplain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apisim.New()
		for n := range 10 {
			p := newPod("default", fmt.Sprint("p", n), "Running")
			if n < 3 {
				p.Status.Phase = "Pending"
			}
			if n == 0 {
				p.Namespace, p.Labels["app"] = "other", "db"
			}
			if _, err := server.Create(podsGVR, p); err != nil {
				t.Fatal(err)
			}
		}
		f, pods := podInformer(t, server)
		if err := errors.Join(pods.AddFieldIndexes("status.phase"), pods.AddLabelIndexes("app"), pods.AddFieldIndexes("status.phase")); err != nil {
			t.Fatal(err) // twice is no error
		}
		start(t, f)
		for _, tt := range []struct{ labels, fields, want string }{
			{"", "", "all objects: 10 of 10 objects"},
			{"", "metadata.namespace=other", "all of namespace other: 1 of 10 objects, then check metadata.namespace=other"},
			{"", "metadata.namespace=other,metadata.name=p0", "key other/p0: 1 of 10 objects, then check metadata.name=p0 and metadata.namespace=other"},
			{"", "status.phase=Pending,spec.nodeName!=n1", "index status.phase: 3 of 10 objects, then check spec.nodeName!=n1"},
			{"app=web", "status.phase=Pending", "index status.phase: 3 of 10 objects, then those in index metadata.labels[app] (9 or more)"},
			{"app=db", "status.phase=Running", "index metadata.labels[app]: 1 of 10 objects, then those in index status.phase (7 or more)"},
			{"app!=web", "status.phase!=Running", "all objects: 10 of 10 objects, then check app!=web and status.phase!=Running"},
			{"app in (db,none)", "", "index metadata.labels[app]: 1 of 10 objects"},
		} {
			got, err := pods.Explain(metav1.ListOptions{LabelSelector: tt.labels, FieldSelector: tt.fields})
			if err != nil || got.String() != tt.want {
				t.Errorf("%q %q: %v\n  %s\nwant\n  %s", tt.labels, tt.fields, err, got, tt.want)
			}
		}
		if got, err := pods.GetIndexer().ByIndex("status.phase", "Pending"); err != nil || len(got) != 3 {
			t.Errorf("by hand: %d, %v", len(got), err)
		}
	})
}
