package apitest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Server is the server under test and what can be done to it. A nil or zero
// ability is one that it hasn't got.
type Server struct {
	// Config reaches the server as a user who may do everything.
	Config *rest.Config
	// Virtual says that time is that of a testing/synctest bubble: waits cost
	// nothing and durations are exact.
	Virtual bool
	// Compact makes the server forget every state before now.
	Compact func(t *testing.T)
	// Restart stops the server and starts it with the same data. It returns when
	// the server answers again for every resource.
	Restart func(t *testing.T)
	// Sharding says that the server heeds shardSelector.
	Sharding bool
	// Custom is a custom resource with namespaces whose selectable field is
	// spec.color; CustomKind is its kind.
	Custom     schema.GroupVersionResource
	CustomKind string
	// Uncached is a namespaced core resource without a watch cache, such as
	// "events", with its kind.
	Uncached, UncachedKind string
}

// Suite says how to run the clauses.
type Suite struct {
	// Each calls test with a server, once for each clause. It may run test in a
	// bubble. Abilities must be the same each time.
	Each func(t *testing.T, test func(t *testing.T, s Server))
	// Parallel runs clauses at the same time, on servers that stand it.
	Parallel bool
	// Skips are the ids of clauses that are expected to be skipped.
	Skips []string
}

// ability is something that a clause needs of a server.
type ability struct {
	name string
	has  func(Server) bool
}

// clause is one rule and its test.
type clause struct {
	id       string // also the subtest's name
	test     func(*env)
	needs    []ability
	disturbs bool // others, on a shared server
}

// clauses returns the whole suite in the order of the contract.
func clauses() []clause {
	return slices.Concat(identityClauses(), listClauses(), pageClauses(), watchClauses(), initialClauses(),
		bookmarkClauses(), errorClauses(), encodingClauses(), shardClauses())
}

// Run holds the server against every clause.
func Run(t *testing.T, s Suite) {
	var mu sync.Mutex
	var skipped []string
	all := clauses()
	t.Cleanup(func() { // after the clauses that run at the same time
		if strings.Contains(flagRun(), "/") {
			return // not all of them ran
		}
		mu.Lock()
		defer mu.Unlock()
		want := slices.Sorted(slices.Values(s.Skips))
		slices.Sort(skipped)
		if !slices.Equal(want, skipped) {
			t.Errorf("skipped clauses\n%v\nexpected\n%v", skipped, want)
		}
		t.Logf("%d clauses, %d skipped", len(all), len(skipped))
	})
	for _, c := range all {
		t.Run(c.id, func(t *testing.T) {
			if s.Parallel && !c.disturbs {
				t.Parallel()
			}
			lacking := ""
			s.Each(t, func(t *testing.T, server Server) {
				for _, a := range c.needs {
					if !a.has(server) {
						lacking = a.name
						return
					}
				}
				c.test(newEnv(t, server))
			})
			if lacking != "" {
				mu.Lock()
				skipped = append(skipped, c.id)
				mu.Unlock()
				t.Skip("this server lacks: " + lacking)
			}
		})
	}
}

func canCompact() ability {
	return ability{"compaction", func(s Server) bool { return s.Compact != nil }}
}

func canRestart() ability {
	return ability{"a restart", func(s Server) bool { return s.Restart != nil }}
}

func virtualTime() ability {
	return ability{"virtual time", func(s Server) bool { return s.Virtual }}
}

func customResource() ability {
	return ability{"a custom resource", func(s Server) bool { return s.CustomKind != "" }}
}

func uncachedResource() ability {
	return ability{"a resource without a watch cache", func(s Server) bool { return s.UncachedKind != "" }}
}

func sharding() ability {
	return ability{"sharded lists and watches", func(s Server) bool { return s.Sharding }}
}

func noSharding() ability {
	return ability{"the absence of sharding", func(s Server) bool { return !s.Sharding }}
}
