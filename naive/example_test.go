package naive_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"informer.example/naive"
	"informer.example/object"
)

// Two lists, one after the other. Nobody said that b is gone.
func ExampleDiff() {
	type state = naive.State[*metav1.PartialObjectMetadata]
	key := func(name string) object.Key { return object.Key{Namespace: "default", Name: name} }

	first := state{
		key("a"): {Key: key("a"), UID: "u1", ResourceVersion: "1"},
		key("b"): {Key: key("b"), UID: "u2", ResourceVersion: "2"},
	}
	second := state{
		key("a"): {Key: key("a"), UID: "u1", ResourceVersion: "7"},
		key("c"): {Key: key("c"), UID: "u3", ResourceVersion: "5"},
	}
	for _, change := range naive.Diff(first, second) {
		fmt.Println(change.Type, change.Key)
	}
	// Output:
	// UPDATED default/a
	// DELETED default/b
	// ADDED default/c
}
