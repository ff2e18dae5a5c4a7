package apitest

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"strings"
)

func shardClauses() []clause {
	return []clause{
		{id: "S1_ShardsDivideTheObjects", test: shardsDivide, needs: []ability{sharding()}},
		{id: "S1_ShardsOfCustomResources", test: shardsOfCustom, needs: []ability{sharding(), customResource()}},
		{id: "S1_ShardsOfAWatch", test: shardsOfAWatch, needs: []ability{sharding()}},
		{id: "S2_BadShardSelector", test: badShardSelector, needs: []ability{sharding()}},
		{id: "S2_ShardSelectorIgnored", test: shardIgnored, needs: []ability{noSharding()}},
		{id: "S3_FieldSelectorsOfPods", test: podFields},
		{id: "S3_FieldSelectorsOfCustomResources", test: customFields, needs: []ability{customResource()}},
	}
}

const (
	lowHalf  = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"
	highHalf = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')"
)

// low reports whether a value is in the lower half.
func low(value string) bool {
	h := fnv.New64a()
	h.Write([]byte(value))
	return h.Sum64() < 1<<63
}

func shardQuery(selector string) string { return "shardSelector=" + url.QueryEscape(selector) }

// The two halves share nothing and make up everything. A list says what it was
// asked for.
func shardsDivide(e *env) {
	for i := range 24 {
		e.put(fmt.Sprintf("p%02d", i))
	}
	all := e.get(e.path()).list(e)
	names := map[bool][]string{}
	for _, o := range all.Items {
		half := low(string(o.UID))
		names[half] = append(names[half], o.Name)
	}
	for _, row := range []struct{ selector, want string }{
		{lowHalf, strings.Join(names[true], " ")},
		{highHalf, strings.Join(names[false], " ")},
		{lowHalf + " || " + highHalf, all.names()},
	} {
		for _, query := range []string{"", "resourceVersion=0&", "limit=500&"} {
			l := e.get(e.path() + "?" + query + shardQuery(row.selector)).list(e)
			if l.names() != row.want {
				e.Errorf("%s%s: %s; want %s", query, row.selector, l.names(), row.want)
			}
			if l.Metadata.ShardInfo == nil || l.Metadata.ShardInfo.Selector == "" {
				e.Errorf("%s%s: the list doesn't say that it is a shard", query, row.selector)
			}
		}
	}
	// By namespace, all of this namespace is in one half.
	byNamespace := strings.ReplaceAll(lowHalf, "metadata.uid", "metadata.namespace")
	want := ""
	if low(e.ns) {
		want = all.names()
	}
	if got := e.get(e.path() + "?" + shardQuery(byNamespace)).list(e).names(); got != want {
		e.Errorf("%s: %s; want %s", byNamespace, got, want)
	}
}

// Lists of custom resources are divided too, but don't say so.
func shardsOfCustom(e *env) {
	r := e.custom()
	for i := range 12 {
		e.create(r, e.ns, fmt.Sprintf("p%02d", i), nil)
	}
	var names []string
	for _, o := range e.get(r.in(e.ns)).list(e).Items {
		if low(string(o.UID)) {
			names = append(names, o.Name)
		}
	}
	for _, query := range []string{"", "resourceVersion=0&", "limit=500&"} {
		l := e.get(r.in(e.ns) + "?" + query + shardQuery(lowHalf)).list(e)
		if l.names() != strings.Join(names, " ") || l.Metadata.ShardInfo != nil {
			e.Errorf("%s: %s, shard %v; want %v, and no word of shards", query, l.names(), l.Metadata.ShardInfo, names)
		}
	}
}

func shardsOfAWatch(e *env) {
	from := rvOf(e.now())
	state := e.watch(e.path(), watchList+"&"+shardQuery(lowHalf))
	if got := text(state.initial()); got != "END" {
		e.Errorf("the shard of nothing is %s", got)
	}
	both := map[bool]*stream{
		true:  e.watch(e.path(), "resourceVersion="+from+"&"+shardQuery(lowHalf)),
		false: e.watch(e.path(), "resourceVersion="+from+"&"+shardQuery(highHalf)),
	}
	for i := range 16 {
		name := fmt.Sprintf("p%02d", i)
		o := e.put(name)
		e.label(name, "step", "2")
		e.remove(name)
		w := both[low(string(o.UID))]
		if got, want := text(w.take(3)), fmt.Sprintf("ADDED %[1]s, MODIFIED %[1]s, DELETED %[1]s", name); got != want {
			e.Errorf("%s: %s; want %s", w.what, got, want)
		}
		if low(string(o.UID)) {
			state.take(3)
		}
	}
}

// Bounds have 16 lowercase hex digits, or are 2^64; there is one field.
func badShardSelector(e *env) {
	for _, selector := range []string{
		"shardRange(object.metadata.uid, '0x0', '0x8000000000000000')",
		"shardRange(object.metadata.uid, '0x000000000000000A', '0x8000000000000000')",
		"shardRange(object.metadata.uid, '0x0000000000000000', '0x20000000000000000')",
		"shardRange(object.metadata.uid, '0x8000000000000000', '0x0000000000000000')",
		"shardRange(object.metadata.name, '0x0000000000000000', '0x8000000000000000')",
		lowHalf + " || " + strings.ReplaceAll(highHalf, "uid", "namespace"),
		lowHalf + " && " + highHalf,
		"everything",
	} {
		for _, query := range []string{"?", "?watch=true&timeoutSeconds=1&"} {
			a := e.get(e.path() + query + shardQuery(selector))
			if a.code != badShardCode {
				e.Errorf("%s%s: %d, want %d: %.300s", query, selector, a.code, badShardCode, a.body)
			}
		}
	}
}

// badShardCode answers a shardSelector that can't be read.
const badShardCode = http.StatusInternalServerError

// A server without sharding shows everything, and says nothing of it.
func shardIgnored(e *env) {
	for i := range 8 {
		e.put(fmt.Sprintf("p%d", i))
	}
	all := e.get(e.path()).list(e).names()
	for _, selector := range []string{lowHalf, highHalf, "nonsense("} {
		l := e.get(e.path() + "?" + shardQuery(selector)).list(e)
		if l.names() != all || l.Metadata.ShardInfo != nil {
			e.Errorf("%s: %s, shard %v; want all, and no word of shards", selector, l.names(), l.Metadata.ShardInfo)
		}
		w := e.watch(e.path(), watchList+"&"+shardQuery(selector))
		if n := len(w.initial()) - 1; n != 8 {
			e.Errorf("%s: a watch begins with %d of 8", selector, n)
		}
	}
}

func podFields(e *env) {
	r := pods()
	e.create(r, e.ns, "on-node", podSpec(map[string]any{"nodeName": "n1", "restartPolicy": "Never", "schedulerName": "other"}))
	e.create(r, e.ns, "waiting", podSpec(map[string]any{"restartPolicy": "Always", "hostNetwork": false}))
	for _, row := range []struct{ selector, want string }{
		{"metadata.name=waiting", "waiting"},
		{"metadata.namespace=" + e.ns, "on-node waiting"},
		{"metadata.namespace=none", ""},
		{"spec.nodeName=n1", "on-node"},
		{"spec.host=n1", "on-node"},
		{"spec.nodeName=", "waiting"},
		{"spec.nodeName!=n1", "waiting"},
		{"spec.restartPolicy=Never", "on-node"},
		{"spec.schedulerName=other", "on-node"},
		{"spec.hostNetwork=false", "on-node waiting"},
		{"status.phase!=Running", "on-node waiting"},
		{"status.podIP=", "on-node waiting"},
		{"status.podIPs=10.0.0.1", ""},
		{"status.nominatedNodeName=", "on-node waiting"},
		{"spec.nodeName=n1,metadata.name=waiting", ""},
	} {
		a := e.get(r.in(e.ns) + "?fieldSelector=" + url.QueryEscape(row.selector))
		if a.code != http.StatusOK {
			e.Errorf("%s: %d: %.300s", row.selector, a.code, a.body)
			continue
		}
		if got := a.list(e).names(); got != row.want {
			e.Errorf("%s: %q, want %q", row.selector, got, row.want)
		}
	}
	if a := e.get(r.in(e.ns) + "?fieldSelector=spec.color%3Dred"); a.code != http.StatusBadRequest {
		e.Errorf("a field that can't be selected: %d", a.code)
	}
	// A pod that is bound to another node leaves the selection of none.
	w := e.watch(r.in(e.ns), "resourceVersion="+rvOf(e.now())+"&fieldSelector="+url.QueryEscape("spec.nodeName=n1"))
	e.create(r, e.ns, "elsewhere", podSpec(map[string]any{"nodeName": "n2"}))
	e.create(r, e.ns, "here", podSpec(map[string]any{"nodeName": "n1"}))
	if got := w.next().String(); got != "ADDED here" {
		e.Errorf("a watch of n1 shows %s", got)
	}
}

func customFields(e *env) {
	r := e.custom()
	e.create(r, e.ns, "a", map[string]any{"color": "red"})
	from := e.create(r, e.ns, "b", map[string]any{"color": "blue"}).ResourceVersion
	for _, row := range []struct{ selector, want string }{
		{"metadata.name=a", "a"},
		{"metadata.namespace=" + e.ns, "a b"},
		{"spec.color=red", "a"},
		{"spec.color!=red", "b"},
	} {
		if got := e.get(r.in(e.ns) + "?fieldSelector=" + url.QueryEscape(row.selector)).list(e).names(); got != row.want {
			e.Errorf("%s: %q, want %q", row.selector, got, row.want)
		}
	}
	if a := e.get(r.in(e.ns) + "?fieldSelector=spec.weight%3D1"); a.code != http.StatusBadRequest {
		e.Errorf("a field that isn't selectable: %d", a.code)
	}
	w := e.watch(r.in(e.ns), "resourceVersion="+from+"&fieldSelector=spec.color%3Dred")
	patch := map[string]any{"spec": map[string]any{"color": "green"}}
	e.do(http.MethodPatch, r.in(e.ns)+"/a", patch).want(e, http.StatusOK)
	v := w.next()
	if v.String() != "DELETED a" || !strings.Contains(string(v.raw), `"red"`) {
		e.Errorf("on leaving the selection: %v: %s", v, v.raw)
	}
}
