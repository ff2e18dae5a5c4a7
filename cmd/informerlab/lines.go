package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// The lines of "watch", in the form that -o json gives them.

// eventLine is one handler call.
type eventLine struct {
	Time               time.Time `json:"time"`
	Type               string    `json:"type"` // ADDED, UPDATED, DELETED
	Key                string    `json:"key"`
	UID                types.UID `json:"uid"`
	ResourceVersion    string    `json:"resourceVersion"`
	OldResourceVersion string    `json:"oldResourceVersion"`
	Initial            bool      `json:"initial"`
	Source             string    `json:"source"` // list, watch, relist, resync
	FinalStateKnown    bool      `json:"finalStateKnown"`
}

// syncedLine says that the handler has been told the first list.
type syncedLine struct {
	Time            time.Time `json:"time"`
	Type            string    `json:"type"` // SYNCED
	Count           int       `json:"count"`
	ResourceVersion string    `json:"resourceVersion"`
}

// answerLine is what the cache says to --get or --by-ip.
type answerLine struct {
	Time    time.Time     `json:"time"`
	Type    string        `json:"type"`  // ANSWER
	Query   string        `json:"query"` // get, byIP
	Value   string        `json:"value"`
	Objects []dumpedEntry `json:"objects"`
}

// errorLine says that the status has turned bad.
type errorLine struct {
	Time    time.Time `json:"time"`
	Type    string    `json:"type"` // ERROR
	Reason  string    `json:"reason"`
	Message string    `json:"message"`

	fatal bool // it ends the command, which says so itself
}

// statusLine is the last one.
type statusLine struct {
	Time            time.Time      `json:"time"`
	Type            string         `json:"type"` // STATUS
	Synced          bool           `json:"synced"`
	Objects         int            `json:"objects"`
	ResourceVersion string         `json:"resourceVersion"`
	Lists           int            `json:"lists"`
	Watches         int            `json:"watches"`
	Relists         map[string]int `json:"relists"` // by reason
	Dropped         int            `json:"dropped"`
	Quarantined     int            `json:"quarantined"`
	LastError       *string        `json:"lastError"` // null: none
}

// printer writes the lines. It is not safe for concurrent use.
type printer interface {
	event(eventLine) error
	synced(syncedLine) error
	answer(answerLine) error
	problem(errorLine) error
	status(statusLine) error
}

func newPrinter(format string, out, errOut io.Writer) printer {
	if format == "json" {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		return jsonPrinter{enc}
	}
	return textPrinter{out, errOut}
}

type jsonPrinter struct{ enc *json.Encoder }

func (p jsonPrinter) event(l eventLine) error   { return p.enc.Encode(l) }
func (p jsonPrinter) synced(l syncedLine) error { return p.enc.Encode(l) }
func (p jsonPrinter) answer(l answerLine) error { return p.enc.Encode(l) }
func (p jsonPrinter) problem(l errorLine) error { return p.enc.Encode(l) }
func (p jsonPrinter) status(l statusLine) error { return p.enc.Encode(l) }

type textPrinter struct{ out, errOut io.Writer }

const clock = "15:04:05.000"

func (p textPrinter) event(l eventLine) error {
	note := l.Source
	if l.Type == "DELETED" && !l.FinalStateKnown {
		note += ", final state unknown"
	}
	version := l.ResourceVersion
	if l.OldResourceVersion != "" && l.OldResourceVersion != version {
		version = l.OldResourceVersion + " -> " + version
	}
	_, err := fmt.Fprintf(p.out, "%s %-7s %s  %s  (%s)\n", l.Time.Format(clock), l.Type, l.Key, version, note)
	return err
}

func (p textPrinter) synced(l syncedLine) error {
	_, err := fmt.Fprintf(p.out, "%s SYNCED  %d objects at resourceVersion %s\n", l.Time.Format(clock), l.Count, l.ResourceVersion)
	return err
}

func (p textPrinter) answer(l answerLine) error {
	found := "nothing"
	if len(l.Objects) > 0 {
		var each []string
		for _, o := range l.Objects {
			each = append(each, fmt.Sprintf("%s  %s  uid %s", o.Key, o.ResourceVersion, o.UID))
		}
		found = strings.Join(each, "; ")
	}
	_, err := fmt.Fprintf(p.out, "%s ANSWER  %s %s: %s\n", l.Time.Format(clock), l.Query, l.Value, found)
	return err
}

func (p textPrinter) problem(l errorLine) error {
	if l.fatal {
		return nil
	}
	_, err := fmt.Fprintf(p.errOut, "%s ERROR   %s: %s\n", l.Time.Format(clock), l.Reason, l.Message)
	return err
}

func (p textPrinter) status(l statusLine) error {
	relists := 0
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(l.Relists)) {
		relists += l.Relists[reason]
		reasons = append(reasons, fmt.Sprintf("%s %d", reason, l.Relists[reason]))
	}
	text := fmt.Sprintf("%d objects, %d lists, %d watches, %d relists", l.Objects, l.Lists, l.Watches, relists)
	if len(reasons) > 0 {
		text += " (" + strings.Join(reasons, ", ") + ")"
	}
	if l.LastError != nil {
		text += ", last error: " + *l.LastError
	}
	_, err := fmt.Fprintf(p.out, "%s STATUS  %s\n", l.Time.Format(clock), text)
	return err
}
