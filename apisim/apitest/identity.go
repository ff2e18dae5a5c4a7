package apitest

import (
	"fmt"
	"net/http"
)

func identityClauses() []clause {
	return []clause{
		{id: "K1_OneCounterNumbersAllWrites", test: oneCounter},
		{id: "K2_NoOpUpdateIsNoWrite", test: noOpUpdate},
		{id: "K3_EventVersionsIncrease", test: eventVersions},
		{id: "K4_KeyOrder", test: keyOrder},
	}
}

// Writes of different resources get decimal, growing numbers from one counter.
func oneCounter(e *env) {
	last := int64(0)
	grew := func(what string, o object) {
		e.Helper()
		n := e.rv(o.ResourceVersion)
		if n <= last {
			e.Errorf("%s got resourceVersion %d after %d", what, n, last)
		}
		last = n
	}
	grew("a configmap", e.put("a"))
	grew("a pod", e.create(pods(), e.ns, "a", nil))
	grew("the next configmap", e.put("b"))
	grew("an update", e.label("a", "step", "2"))
	if n := e.rv(e.get(pods().in(e.ns)).list(e).Metadata.ResourceVersion); n < last {
		e.Errorf("the list of pods is at %d, before the configmaps' %d", n, last)
	}
}

// An update that changes nothing has neither a new RV nor an event.
func noOpUpdate(e *env) {
	before := e.put("a", "step", "1")
	body := e.get(e.path()+"/a").want(e, http.StatusOK)
	again := e.do(http.MethodPut, e.path()+"/a", jsonMap(e, body.body)).want(e, http.StatusOK).object(e)
	if again.ResourceVersion != before.ResourceVersion {
		e.Errorf("replaced by itself, the object went from %s to %s", before.ResourceVersion, again.ResourceVersion)
	}
	if same := e.label("a", "step", "1"); same.ResourceVersion != before.ResourceVersion {
		e.Errorf("patched to what it was, the object went from %s to %s", before.ResourceVersion, same.ResourceVersion)
	}
	e.label("a", "step", "2")
	w := e.watch(e.path(), "resourceVersion="+before.ResourceVersion)
	if v := w.next(); v.object.Labels["step"] != "2" {
		e.Errorf("the first event is %v with step %q, want the change to 2", v, v.object.Labels["step"])
	}
}

// Each event carries the RV of its write, deletions too, and they only grow.
func eventVersions(e *env) {
	from := e.now()
	w := e.watch(e.path(), "resourceVersion="+rvOf(from))
	a := e.put("a")
	changed := e.label("a", "step", "2")
	b := e.put("b")
	e.remove("a")
	c := e.put("c")
	events := w.take(5)
	if got := text(events); got != "ADDED a, MODIFIED a, ADDED b, DELETED a, ADDED c" {
		e.Fatalf("events: %s", got)
	}
	last := from
	for _, v := range events {
		n := e.rv(v.object.ResourceVersion)
		if n <= last {
			e.Errorf("%v has resourceVersion %d after %d", v, n, last)
		}
		last = n
	}
	for i, written := range map[int]object{0: a, 1: changed, 2: b, 4: c} {
		if got := events[i].object.ResourceVersion; got != written.ResourceVersion {
			e.Errorf("%v has resourceVersion %s, the write's was %s", events[i], got, written.ResourceVersion)
		}
	}
	if deleted := events[3].object; deleted.UID != a.UID || deleted.Labels["step"] != "2" {
		e.Errorf("DELETED shows uid %s, labels %v; want the last state", deleted.UID, deleted.Labels)
	}
}

// Lists and initial events come in byte order of "namespace/name", in which
// ns-b/x is before ns/x; a namespace is a whole path segment.
func keyOrder(e *env) {
	second := e.newNamespace("-b")
	for _, at := range [][2]string{{e.ns, "b"}, {second, "z"}, {e.ns, "a"}, {e.ns, "a-1"}, {second, "a"}, {e.ns, "a.1"}} {
		e.create(configMaps(), at[0], at[1], nil, "clause", e.ns)
	}
	want := fmt.Sprintf("%[2]s/a %[2]s/z %[1]s/a %[1]s/a-1 %[1]s/a.1 %[1]s/b", e.ns, second)
	query := "labelSelector=clause%3D" + e.ns
	if got := keys(e.get(configMaps().in("") + "?" + query).list(e).Items); got != want {
		e.Errorf("a list has the order\n%s\nwant\n%s", got, want)
	}
	var initial []object
	for _, v := range e.watch(configMaps().in(""), watchList+"&"+query).initial() {
		if !v.end() {
			initial = append(initial, v.object)
		}
	}
	if got := keys(initial); got != want {
		e.Errorf("initial events have the order\n%s\nwant\n%s", got, want)
	}
	if got := e.get(e.path() + "?" + query).list(e).names(); got != "a a-1 a.1 b" {
		e.Errorf("the namespace holds %s", got)
	}
}

func keys(objects []object) string {
	s := ""
	for i, o := range objects {
		if i > 0 {
			s += " "
		}
		s += o.Namespace + "/" + o.Name
	}
	return s
}
