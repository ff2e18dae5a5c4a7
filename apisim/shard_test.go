package apisim

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"
)

const (
	lowHalf  = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"
	highHalf = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')"
)

// What the real server's CEL parser takes for a selector, and how it spells it
// back.
func TestS1_ShardSelectorSyntax(t *testing.T) {
	for _, tc := range []struct{ why, expr, want string }{ // want "": refused
		{"as documented", lowHalf, lowHalf},
		{"two ranges", lowHalf + " || " + highHalf, lowHalf + " || " + highHalf},
		{"no spaces, double quotes", `shardRange(object.metadata.uid,"0x0000000000000000","0x8000000000000000")`, lowHalf},
		{"spaces and parentheses", " ( " + lowHalf + "\n|| (" + highHalf + ") ) ", lowHalf + " || " + highHalf},
		{"by namespace", strings.ReplaceAll(lowHalf, "uid", "namespace"), strings.ReplaceAll(lowHalf, "uid", "namespace")},

		{"short bounds", strings.ReplaceAll(lowHalf, "0x0000000000000000", "0x0"), ""},
		{"17 digits but for 2^64", strings.ReplaceAll(highHalf, "0x10000000000000000", "0x10000000000000001"), ""},
		{"uppercase digits", strings.ReplaceAll(highHalf, "0x8000000000000000", "0xA000000000000000"), ""},
		{"uppercase prefix", strings.ReplaceAll(lowHalf, "0x8", "0X8"), ""},
		{"no prefix", strings.ReplaceAll(lowHalf, "0x8", "8"), ""},
		{"numbers", strings.ReplaceAll(lowHalf, "'", ""), ""},
		{"empty range", strings.ReplaceAll(lowHalf, "0x8", "0x0"), ""},
		{"backwards", "shardRange(object.metadata.uid, '0x8000000000000000', '0x0000000000000000')", ""},
		{"another field", strings.ReplaceAll(lowHalf, "uid", "name"), ""},
		{"longer field", strings.ReplaceAll(lowHalf, "uid", "uids"), ""},
		{"two fields", lowHalf + "||" + strings.ReplaceAll(highHalf, "uid", "namespace"), ""},
		{"and", lowHalf + " && " + highHalf, ""},
		{"trailing or", lowHalf + " ||", ""},
		{"two bounds are needed", "shardRange(object.metadata.uid, '0x0000000000000000')", ""},
		{"open string", "shardRange(object.metadata.uid, '0x00", ""},
		{"only spaces", "  ", ""},
		{"too deep", strings.Repeat("(", 1000) + lowHalf + strings.Repeat(")", 1000), ""},
		{"too long", lowHalf + strings.Repeat(" ", maxShardSelector), ""},
	} {
		sel, err := parseShardSelector(tc.expr)
		if (err != nil) != (tc.want == "") || err == nil && sel.String() != tc.want {
			t.Errorf("%s: %v, %v, want %q", tc.why, sel, err, tc.want)
		}
	}
}

func FuzzShardSelector(f *testing.F) {
	f.Add(lowHalf)
	f.Add("(" + lowHalf + "||" + highHalf + ")")
	f.Fuzz(func(t *testing.T, expr string) {
		sel, err := parseShardSelector(expr)
		if err != nil {
			return
		}
		again, err := parseShardSelector(sel.String())
		if err != nil || again.String() != sel.String() || sel.Empty() {
			t.Errorf("%q: %v, %v", sel.String(), again, err)
		}
	})
}

// H1: a shard's list has its objects only and says so; the two halves make the
// whole.
func TestS1_ShardedList(t *testing.T) {
	s := New(WithSharding(), withWidgets())
	for i := range 20 {
		if _, err := s.Create(Pods().GVR, RealisticPod(i)); err != nil {
			t.Fatal(err)
		}
	}
	total := 0
	for _, half := range []string{lowHalf, highHalf} {
		l := get(t, s, "/api/v1/pods?limit=3&shardSelector="+url.QueryEscape(half)).list(t)
		for token := l.Metadata.Continue; token != ""; {
			if l.Metadata.RemainingItemCount != nil {
				t.Error("a filtered list counts what remains")
			}
			next := get(t, s, "/api/v1/pods?limit=3&shardSelector="+url.QueryEscape(half)+"&continue="+token).list(t)
			l.Items, token = append(l.Items, next.Items...), next.Metadata.Continue
		}
		total += len(l.Items)
		if l.Metadata.ShardInfo == nil || l.Metadata.ShardInfo.Selector != half {
			t.Errorf("shardInfo is %+v", l.Metadata.ShardInfo)
		}
		for _, it := range l.Items {
			if low := sharding.HashField(string(it.UID)) < "8"; low != (half == lowHalf) {
				t.Errorf("%s is in the wrong half", it.UID)
			}
		}
	}
	if total != 20 {
		t.Errorf("the halves have %d pods", total)
	}
	// The real server sets it on typed lists only.
	for _, a := range []answer{
		get(t, s, "/api/v1/pods?shardSelector="+url.QueryEscape(lowHalf), "Accept", acceptMetaList),
		get(t, s, "/apis/demo.informer.example/v1/widgets?shardSelector="+url.QueryEscape(lowHalf)),
	} {
		if l := a.list(t); l.Metadata.ShardInfo != nil {
			t.Errorf("%s has shardInfo", l.Kind)
		}
	}
}

// H1: a watch gets its shard's changes, the initial state included.
func TestS1_ShardedWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(WithSharding())
		// By namespace, so that the shard of an object is known beforehand.
		var low, high string
		for i := 0; low == "" || high == ""; i++ {
			ns := fmt.Sprint("team-", i)
			if sharding.HashField(ns) < "8" {
				low = ns
			} else {
				high = ns
			}
		}
		put(t, s, pod(low, "p"))
		put(t, s, pod(high, "p"))
		shard := "&timeoutSeconds=1&shardSelector=" + url.QueryEscape(strings.ReplaceAll(lowHalf, "uid", "namespace"))
		w := watch(t, s, "/api/v1/pods?"+watchListQuery+shard)
		plain := watch(t, s, "/api/v1/pods?watch=1&resourceVersion=100"+shard)
		put(t, s, pod(low, "p", "x", "1"))
		put(t, s, pod(high, "p", "x", "1"))
		remove(t, s, high, "p")
		remove(t, s, low, "p")
		live := lines("MODIFIED "+low+"/p@103", "DELETED "+low+"/p@106")
		if events, _ := w.rest(t); text(events) != lines("ADDED "+low+"/p@101", "BOOKMARK @102 end", live) {
			t.Errorf("watch-list\n%s", text(events))
		}
		if events, _ := plain.rest(t); text(events) != lines("ADDED "+low+"/p@101", live) {
			t.Errorf("watch\n%s", text(events))
		}
	})
}

// H1: a selector that cannot be read is the real server's own failure, on a
// list as on a watch.
func TestS1_BadShardSelector(t *testing.T) {
	s := New(WithSharding())
	for _, q := range []string{"", "watch=1&resourceVersion=100&"} {
		a := get(t, s, "/api/v1/pods?"+q+"shardSelector=x")
		if st := a.status(t); a.code != 500 || st.Reason != metav1.StatusReasonUnknown {
			t.Errorf("%q: %d %s", q, a.code, a.body)
		}
	}
}

// H1: without the option the parameter is not looked at.
func TestS2_ShardSelectorIgnored(t *testing.T) {
	s := New()
	for i := range 10 {
		put(t, s, pod("a", string(rune('p'+i))))
	}
	for _, sel := range []string{lowHalf, "x"} {
		l := get(t, s, "/api/v1/pods?shardSelector="+url.QueryEscape(sel)).list(t)
		if len(l.Items) != 10 || l.Metadata.ShardInfo != nil {
			t.Errorf("%d items, %+v", len(l.Items), l.Metadata.ShardInfo)
		}
	}
}
