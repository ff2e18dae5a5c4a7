package contract

import (
	"fmt"
	"regexp"
	"strings"
)

// row is a line of a table: an id, its rule, its tests.
type row struct {
	id, rule, tests string
}

var line = regexp.MustCompile(`^\| ([KESFI]\d+) \| (.*) \| (.*) \|$`)

// rows returns the rows of the document in order.
func rows(document string) []row {
	var all []row
	for l := range strings.Lines(document) {
		if m := line.FindStringSubmatch(strings.TrimRight(l, "\n")); m != nil {
			all = append(all, row{m[1], m[2], m[3]})
		}
	}
	return all
}

// cell is the last column of a row.
func cell(tests []string) string {
	if len(tests) == 0 {
		return "none yet"
	}
	quoted := make([]string, len(tests))
	for i, t := range tests {
		quoted[i] = "`" + t + "`"
	}
	return strings.Join(quoted, "<br>")
}

// update returns the document with the last column as found.
func update(document string, found tests) string {
	var b strings.Builder
	for l := range strings.Lines(document) {
		if m := line.FindStringSubmatch(strings.TrimRight(l, "\n")); m != nil {
			l = fmt.Sprintf("| %s | %s | %s |\n", m[1], m[2], cell(found[m[1]]))
		}
		b.WriteString(l)
	}
	return b.String()
}
