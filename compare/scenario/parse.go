package scenario

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"informer.example/apisim"
	"informer.example/informer"
	"informer.example/reflector"
)

// Scenario is a story that was read and understood.
type Scenario struct {
	// Name is the file's name as a test's: F23_list_cut.txtar is F23_ListCut.
	Name string
	// Story says what happens and what a client is to do about it.
	Story string
	// Pending is why the informer doesn't pass yet; "" if it does.
	Pending string

	file   string
	server serverOptions
	client clientOptions
	script []step
	expect []step
}

type serverOptions struct {
	objects   int
	servers   int
	widgets   bool // a custom resource, instead of pods
	history   int
	window    int
	bookmarks time.Duration
}

type clientOptions struct {
	lists        bool // ask for the state in pages
	page         int64
	selector     string
	shard        reflector.Shard
	verify       time.Duration
	idle         time.Duration
	polling      time.Duration
	watchTimeout time.Duration
	queue        *informer.QueueKind // nil: the caller's
	encoding     string              // "": the caller's
}

// step is a line that was understood: it does something, or finds a fault.
type step struct {
	line int
	run  func(*runner) error
}

// Parse reads a scenario. file is its name, for errors and for Scenario.Name.
func Parse(file string, data []byte) (*Scenario, error) {
	s := &Scenario{
		Name: nameOf(file), file: path.Base(file),
		server: serverOptions{objects: 10, servers: 1, bookmarks: time.Minute},
	}
	seen := make(map[string]bool)
	for _, sec := range sections(string(data)) {
		if seen[sec.name] {
			return nil, s.errorf(1, "section %q is there twice", sec.name)
		}
		seen[sec.name] = true
		if err := s.section(sec); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"story", "script", "expect"} {
		if !seen[name] {
			return nil, s.errorf(1, "section %q is missing", name)
		}
	}
	return s, nil
}

func (s *Scenario) section(sec section) error {
	for _, l := range sec.lines {
		words := strings.Fields(l.text)
		var err error
		switch sec.name {
		case "story":
			s.Story = strings.TrimSpace(s.Story + " " + l.text)
		case "pending":
			s.Pending = strings.TrimSpace(s.Pending + " " + l.text)
		case "server":
			err = s.server.set(words)
		case "client":
			err = s.client.set(words)
		case "script":
			err = s.add(&s.script, l, words)
		case "expect":
			err = s.add(&s.expect, l, append([]string{"expect"}, words...))
		default:
			return s.errorf(l.number, "section %q is unknown; there are story, server, client, script, expect and pending", sec.name)
		}
		if err != nil {
			return s.errorf(l.number, "%s: %v", l.text, err)
		}
	}
	return nil
}

func (s *Scenario) add(to *[]step, l line, words []string) error {
	run, err := parseVerb(words)
	if err != nil {
		return err
	}
	*to = append(*to, step{l.number, run})
	return nil
}

func (s *Scenario) errorf(number int, format string, args ...any) error {
	return &Error{s.file, number, fmt.Sprintf(format, args...)}
}

// nameOf makes F23_list_cut.txtar F23_ListCut.
func nameOf(file string) string {
	id, rest, _ := strings.Cut(strings.TrimSuffix(path.Base(file), ".txtar"), "_")
	var b strings.Builder
	b.WriteString(id + "_")
	for word := range strings.SplitSeq(rest, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

func (o *serverOptions) set(words []string) (err error) {
	a := args(words[1:])
	switch words[0] {
	case "objects":
		o.objects, err = a.number(0)
	case "servers":
		o.servers, err = a.number(0)
	case "widgets":
		o.widgets = true
	case "history":
		o.history, err = a.number(0)
	case "window":
		o.window, err = a.number(0)
	case "bookmarks":
		o.bookmarks, err = a.duration(0)
	default:
		return fmt.Errorf("unknown; there are objects, servers, widgets, history, window and bookmarks")
	}
	return err
}

func (o serverOptions) options() []apisim.Option {
	opts := []apisim.Option{apisim.WithBookmarkInterval(o.bookmarks), apisim.WithResource(widgets)}
	if o.history > 0 {
		opts = append(opts, apisim.WithHistory(o.history))
	}
	if o.window > 0 {
		opts = append(opts, apisim.WithWatchWindow(o.window))
	}
	return opts
}

func (o *clientOptions) set(words []string) (err error) {
	a := args(words[1:])
	switch words[0] {
	case "lists":
		o.lists = true
	case "page":
		var n int
		n, err = a.number(0)
		o.page = int64(n)
	case "selector":
		o.selector, err = a.word(0)
	case "shard":
		if o.shard.Index, err = a.number(0); err == nil {
			o.shard.Count, err = a.number(1)
		}
	case "verify":
		o.verify, err = a.duration(0)
	case "idle":
		o.idle, err = a.duration(0)
	case "polling":
		o.polling, err = a.duration(0)
	case "watch-timeout":
		o.watchTimeout, err = a.duration(0)
	case "queue":
		kinds := map[string]informer.QueueKind{"inorder": informer.InOrder, "deltafifo": informer.DeltaFIFO}
		var name string
		if name, err = a.word(0); err == nil {
			kind := kinds[name]
			o.queue, err = &kind, oneOf(name, "inorder", "deltafifo")
		}
	case "encoding":
		if o.encoding, err = a.word(0); err == nil {
			err = oneOf(o.encoding, "json", "protobuf")
		}
	default:
		return fmt.Errorf("unknown; there are lists, page, selector, shard, verify, idle, polling, watch-timeout, queue and encoding")
	}
	return err
}

// encodings are never changed. Auto is protobuf where a type has it.
var encodings = map[string]reflector.Encoding{"json": reflector.EncodingJSON, "protobuf": reflector.EncodingAuto}

// args are the words behind a verb.
type args []string

func (a args) word(i int) (string, error) {
	if i >= len(a) {
		return "", fmt.Errorf("word %d is missing", i+2)
	}
	return a[i], nil
}

func (a args) number(i int) (int, error) {
	w, err := a.word(i)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(w)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no number", w)
	}
	return n, nil
}

func (a args) duration(i int) (time.Duration, error) {
	w, err := a.word(i)
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(w)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration, such as 30s", w)
	}
	return d, nil
}

func (a args) durationOr(i int, or time.Duration) (time.Duration, error) {
	if i >= len(a) {
		return or, nil
	}
	return a.duration(i)
}
