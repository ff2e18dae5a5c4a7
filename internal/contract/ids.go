package contract

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// group is a run of ids with one letter.
type group struct {
	letter string
	last   int
}

// groups returns the ids of the contract: clauses about lists and watches,
// encodings and HTTP, sharding and selectors, faults, invariants.
func groups() []group {
	return []group{{"K", 26}, {"E", 9}, {"S", 3}, {"F", 55}, {"I", 14}}
}

// ids returns every id in the order of the document.
func ids() []string {
	var all []string
	for _, g := range groups() {
		for n := 1; n <= g.last; n++ {
			all = append(all, fmt.Sprintf("%s%d", g.letter, n))
		}
	}
	return all
}

var (
	// named matches the part of a test's name that begins with ids.
	named  = regexp.MustCompile(`^(?:[KESFI]\d+_)+[A-Za-z]\w*$`)
	leader = regexp.MustCompile(`^([KESFI])(\d+)_`)
)

// idsOf returns the ids with which a name begins: "F6_F18_X" has two. Leading
// zeros don't count.
func idsOf(name string) []string {
	if !named.MatchString(name) {
		return nil
	}
	var all []string
	for {
		m := leader.FindStringSubmatch(name)
		if m == nil {
			return all
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return all
		}
		all = append(all, fmt.Sprintf("%s%d", m[1], n))
		name = strings.TrimPrefix(name, m[0])
	}
}
