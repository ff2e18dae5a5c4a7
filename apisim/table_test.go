package apisim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// acceptTable is what kubectl sends.
const acceptTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"

func tableOf(t *testing.T, b []byte) metav1.Table {
	t.Helper()
	var table metav1.Table
	if err := json.Unmarshal(b, &table); err != nil || table.Kind != "Table" || table.APIVersion != "meta.k8s.io/v1" {
		t.Fatalf("no Table: %v: %s", err, b)
	}
	return table
}

func cells(table metav1.Table) string {
	var rows []string
	for _, r := range table.Rows {
		rows = append(rows, strings.Trim(fmt.Sprint(r.Cells), "[]"))
	}
	return lines(rows...)
}

// T1: the rows and columns of a list, and what of the object comes with a row.
func TestTableList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(withWidgets())
		put(t, s, pod("a", "p0"))
		put(t, s, pod("a", "p1"))
		if _, err := s.Create(widgets, pod("a", "w")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		first := tableOf(t, get(t, s, "/api/v1/namespaces/a/pods?limit=1", "Accept", acceptTable).body)
		if first.Continue == "" || *first.RemainingItemCount != 1 || first.ResourceVersion != "103" {
			t.Errorf("metadata %+v", first.ListMeta)
		}
		if got := cells(first); got != "p0 0/0  0 5m <none> <none> <none> <none>" {
			t.Errorf("row %q", got)
		}
		var names []string
		for _, c := range first.ColumnDefinitions {
			if c.Priority == 0 {
				names = append(names, c.Name)
			}
		}
		if strings.Join(names, " ") != "Name Ready Status Restarts Age" {
			t.Errorf("columns %q", names)
		}
		second := tableOf(t, get(t, s, "/api/v1/namespaces/a/pods?continue="+first.Continue, "Accept", acceptTable).body)
		if !strings.HasPrefix(cells(second), "p1 ") {
			t.Errorf("second page %q", cells(second))
		}
		if w := tableOf(t, get(t, s, "/apis/demo.informer.example/v1/widgets", "Accept", acceptTable).body); cells(w) != "w 5m" {
			t.Errorf("custom resource %q", cells(w))
		}
		if b := get(t, s, "/api/v1/namespaces/b/pods", "Accept", acceptTable).body; !strings.Contains(string(b), `"rows":[]`) {
			t.Errorf("empty list: %s", b)
		}
		one := tableOf(t, get(t, s, "/api/v1/namespaces/a/pods/p1", "Accept", acceptTable).body)
		if one.ResourceVersion != "102" || cells(one) != "p1 0/0  0 5m <none> <none> <none> <none>" {
			t.Errorf("get: %+v", one)
		}
		for include, want := range map[string]string{
			"": `"kind":"PartialObjectMetadata"`, "Metadata": `"kind":"PartialObjectMetadata"`,
			"Object": `"object":{"kind":"Pod","apiVersion":"v1","metadata"`, "None": `"object":null`,
		} {
			if b := get(t, s, "/api/v1/pods?includeObject="+include, "Accept", acceptTable).body; !strings.Contains(string(b), want) {
				t.Errorf("includeObject=%s: no %s in %s", include, want, b)
			}
		}
		for _, url := range []string{"/api/v1/pods?", "/api/v1/namespaces/a/pods/p1?", "/api/v1/pods?watch=1&resourceVersion=100&"} {
			if a := get(t, s, url+"includeObject=All", "Accept", acceptTable); a.code != http.StatusBadRequest {
				t.Errorf("%s: %d", url, a.code)
			}
		}
		if a := get(t, s, "/api/v1/pods", "Accept", protoMedia+";as=Table;g=meta.k8s.io;v=v1"); a.code != http.StatusNotAcceptable {
			t.Errorf("a protobuf table: %d", a.code)
		}
	})
}

// T1: each event of a watch is a table of one row; the first has the columns.
func TestTableWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		put(t, s, pod("a", "p"))
		w := watch(t, s, "/api/v1/pods?timeoutSeconds=1&"+watchListQuery, "Accept", acceptTable)
		remove(t, s, "a", "p")
		events, _ := w.rest(t)
		var got []string
		for i, e := range events {
			table := tableOf(t, e.raw)
			got = append(got, e.typ+" "+table.ResourceVersion)
			if (len(table.ColumnDefinitions) > 0) != (i == 0) || len(table.Rows) != 1 {
				t.Errorf("event %d: %s", i, e.raw)
			}
		}
		if strings.Join(got, ", ") != "ADDED 101, BOOKMARK 101, DELETED 102" {
			t.Errorf("got %q", got)
		}
	})
}

// T1: the STATUS cell.
func TestPodStatusCell(t *testing.T) {
	waiting := func(reason string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
	}
	ended := func(code, signal int32, reason string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Signal: signal, Reason: reason}}}
	}
	up := corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	ready := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for _, tc := range []struct {
		why    string
		phase  corev1.PodPhase
		status corev1.PodStatus
		gone   bool
		want   string
		ready  int
	}{
		{why: "the phase", phase: "Pending", want: "Pending"},
		{why: "running", phase: "Running", status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{up, up}}, want: "Running", ready: 2},
		{why: "a reason of the pod", phase: "Failed", status: corev1.PodStatus{Reason: "Evicted"}, want: "Evicted"},
		{why: "one waits", phase: "Running", status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("CrashLoopBackOff"), up}}, want: "CrashLoopBackOff", ready: 1},
		{why: "exit code", phase: "Failed", status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended(3, 0, "")}}, want: "ExitCode:3"},
		{why: "signal", phase: "Failed", status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended(137, 9, "")}}, want: "Signal:9"},
		{why: "one is done, the pod ready", phase: "Running", status: corev1.PodStatus{Conditions: ready, ContainerStatuses: []corev1.ContainerStatus{ended(0, 0, "Completed"), up}}, want: "Running", ready: 1},
		{why: "one is done, the pod not ready", phase: "Running", status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended(0, 0, "Completed"), up}}, want: "NotReady", ready: 1},
		{why: "init containers in turn", phase: "Pending", status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{ended(0, 0, "Completed"), waiting("PodInitializing")}}, want: "Init:1/2"},
		{why: "one of them fails", phase: "Pending", status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{ended(1, 0, "Error")}}, want: "Init:Error"},
		{why: "being deleted", phase: "Running", gone: true, want: "Terminating"},
		{why: "deleted, but done before", phase: "Succeeded", gone: true, want: "Succeeded"},
		{why: "deleted on a lost node", phase: "Running", status: corev1.PodStatus{Reason: "NodeLost"}, gone: true, want: "Unknown"},
	} {
		p := &corev1.Pod{Status: tc.status}
		p.Spec.InitContainers = make([]corev1.Container, 2)
		p.Status.Phase = tc.phase
		if tc.gone {
			p.DeletionTimestamp = &metav1.Time{}
		}
		if status, ready := podStatusCell(p); status != tc.want || ready != tc.ready {
			t.Errorf("%s: %q with %d ready, want %q with %d", tc.why, status, ready, tc.want, tc.ready)
		}
	}
}

// T2: kubectl learns here that the server itself checks fields, and it does.
func TestFieldValidation(t *testing.T) {
	s := New(withWidgets())
	index := get(t, s, "/openapi/v3").body
	for path, gvk := range map[string]string{
		"api/v1":                        `{"group":"","version":"v1","kind":"Pod"}`,
		"apis/demo.informer.example/v1": `{"group":"demo.informer.example","version":"v1","kind":"Widget"}`,
	} {
		if !strings.Contains(string(index), `"/openapi/v3/`+path+`"`) {
			t.Errorf("%s is not in the index: %s", path, index)
		}
		doc := string(get(t, s, "/openapi/v3/"+path).body)
		if !strings.Contains(doc, gvk) || !strings.Contains(doc, `"name":"fieldValidation","in":"query"`) {
			t.Errorf("%s: %s", path, doc)
		}
	}
	if a := get(t, s, "/openapi/v3/apis/none/v1"); a.code != http.StatusNotFound {
		t.Errorf("no such group: %d", a.code)
	}

	body := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"%s"},"spec":{"colour":"red"}}`
	const pods = "/api/v1/namespaces/a/pods"
	a := call(t, s, http.MethodPost, pods+"?fieldValidation=Strict", fmt.Sprintf(body, "p"))
	if st := a.status(t); a.code != 400 || st.Message != `Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.colour"` {
		t.Errorf("strict: %d %s", a.code, a.body)
	}
	for _, v := range []string{"", "?fieldValidation=Ignore", "?fieldValidation=Warn"} {
		if a := call(t, s, http.MethodPost, pods+v, fmt.Sprintf(body, "p"+strconv.Itoa(len(v)))); a.code != 201 {
			t.Errorf("%q: %d %s", v, a.code, a.body)
		}
	}
	a = call(t, s, http.MethodPatch, pods+"/p0?fieldValidation=Strict", `{"spec":{"colour":"red"}}`, "Content-Type", "application/merge-patch+json")
	if a.code != 400 {
		t.Errorf("strict patch: %d %s", a.code, a.body)
	}
	a = call(t, s, http.MethodPost, "/apis/demo.informer.example/v1/namespaces/a/widgets?fieldValidation=Strict",
		`{"kind":"Widget","apiVersion":"demo.informer.example/v1","metadata":{"name":"w"},"spec":{"colour":"red"}}`)
	if a.code != 201 {
		t.Errorf("a custom resource has no unknown fields: %d %s", a.code, a.body)
	}
}
