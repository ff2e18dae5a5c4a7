package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"informer.example/indexer"
	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

var (
	errTimeUp     = errors.New("the time given by --for is up")
	errReaderGone = errors.New("nobody reads the output any more")
)

// run finds the server and the resource, and watches.
func (w *watching) run(ctx context.Context, name resourceName, flags watchFlags) error {
	if w.dump != "" {
		if err := checkDump(w.dump); err != nil {
			return err
		}
	}
	if w.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, w.limit, errTimeUp)
		defer cancel()
	}
	if flags.cluster.file == "" {
		server := newEmbedded()
		defer server.stop()
		k, err := name.resolve(ctx, server.Config())
		if err != nil {
			return err
		}
		if err := server.populate(ctx, k.gvr, k.namespaced, flags.objects, flags.rate); err != nil {
			return err
		}
		return k.follow(ctx, w, server.Config(), k)
	}
	cfg, err := flags.cluster.config()
	if err != nil {
		return err
	}
	if cfg.Dial == nil {
		// The default waits half a minute for an address where nobody answers.
		cfg.Dial = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	k, err := name.resolve(ctx, cfg)
	if err != nil {
		return err
	}
	return k.follow(ctx, w, cfg, k)
}

// session is one watch on its way from start to last line. What it has to say
// goes through messages to one goroutine, so that an output that is stuck holds
// up neither the informer's end nor the dump.
type session[T metav1.Object] struct {
	w        *watching
	host     string
	informer *informer.Informer[T]
	end      context.CancelCauseFunc
	ended    <-chan struct{} // closed by end
	messages chan func()

	trouble string // reason of the present error, "" when all is well; the reflector's goroutine owns it

	// The printing goroutine owns these and w.out.
	count    int  // objects that the handler knows of
	isSynced bool // SYNCED has been printed
}

// maxMessages is how far the output may be behind before the handler waits for it.
const maxMessages = 1024

// watchResource watches until ctx ends, or until it is clear that the first
// list can't come.
func watchResource[T metav1.Object](ctx context.Context, w *watching, cfg *rest.Config, k kind, indexers indexer.Indexers[T]) (err error) {
	switch {
	case w.encoding == reflector.EncodingProtobuf && !k.typed:
		return fmt.Errorf("--encoding protobuf: %s is no built-in resource, and custom ones speak JSON only", fullName(k.gvr))
	case w.namespace != "" && !k.namespaced:
		return fmt.Errorf("--namespace: %s are not in namespaces", fullName(k.gvr))
	}
	source, err := reflector.NewHTTPSource(cfg, k.gvr, reflector.SourceOptions[T]{
		Namespace: w.namespace, LabelSelector: w.labels, FieldSelector: w.fields, Encoding: w.encoding,
	})
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	s := &session[T]{w: w, host: cfg.Host, end: end, ended: ctx.Done(), messages: make(chan func(), maxMessages)}
	s.informer = informer.New[T](source, informer.Options[T]{
		Name:      fullName(k.gvr),
		Indexers:  indexers,
		Queue:     w.queue,
		Reflector: reflector.Options{OnStatus: s.onStatus, OnQuarantine: s.onQuarantine},
		Logger:    slog.New(slog.DiscardHandler), // what matters is printed
	})
	registration, err := s.informer.AddEventHandler(informer.HandlerFunc[T](s.onEvent))
	if err != nil {
		return err
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if err := s.informer.Run(ctx); err != nil {
			end(err)
		}
	}()
	last, printed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(printed)
		s.printAll(last)
	}()
	select {
	case <-registration.Synced():
		s.post(s.printSynced)
	case <-ctx.Done():
	}
	<-ctx.Done()

	waitFor(stopped, stopTime)
	var dumpErr error
	if w.dump != "" {
		dumpErr = writeDump(w.dump, s.informer.Snapshot())
	}
	close(last)
	waitFor(printed, lastTime) // or leave it behind: the process ends
	return s.outcome(context.Cause(ctx), dumpErr)
}

// How long ending may take: together less than the second of L4.
const (
	stopTime = 500 * time.Millisecond
	lastTime = 200 * time.Millisecond
)

func waitFor(done <-chan struct{}, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// outcome says how the command has ended.
func (s *session[T]) outcome(why, dumpErr error) error {
	switch {
	case errors.Is(why, errReaderGone), errors.Is(why, errTimeUp) && s.informer.HasSynced():
		return dumpErr
	case errors.Is(why, errTimeUp):
		status := s.informer.Status()
		trouble := "the server hasn't answered"
		if status.LastError != nil {
			trouble = oneLine(&hostError{s.host, status.LastError})
		}
		why = fmt.Errorf("%s: no complete list within %v: %s", status.Name, s.w.limit, trouble)
	}
	return errors.Join(why, dumpErr)
}

// post hands something to print to the printing goroutine. It waits for room
// until the watch ends.
func (s *session[T]) post(say func()) {
	select {
	case s.messages <- say:
		return
	default:
	}
	select {
	case s.messages <- say:
	case <-s.ended:
	}
}

// printAll says what is posted, and the status once last is closed and all else
// has been said.
func (s *session[T]) printAll(last <-chan struct{}) {
	for {
		select {
		case say := <-s.messages:
			say()
			continue
		case <-last:
		}
		for len(s.messages) > 0 { // nobody else takes them
			(<-s.messages)()
		}
		s.printed(s.w.out.status(s.statusLine()))
		return
	}
}

// printed ends the watch when its output leads nowhere. A reader that has gone
// is no failure; a full disk is.
func (s *session[T]) printed(err error) {
	switch {
	case err == nil:
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		s.end(fmt.Errorf("%w: %w", errReaderGone, err))
	default:
		s.end(fmt.Errorf("write the output: %w", err))
	}
}

func (s *session[T]) onEvent(e informer.Event[T]) {
	line := eventLine{
		Time: time.Now(), Type: e.Type.String(), Key: e.Key.String(), UID: e.UID,
		ResourceVersion: e.ResourceVersion, OldResourceVersion: e.OldResourceVersion,
		Initial: e.Initial, Source: e.Source.String(), FinalStateKnown: e.FinalStateKnown,
	}
	s.post(func() {
		if !e.Initial {
			s.printSynced() // the first list is told, whether or not its signal has come
		}
		switch e.Type {
		case informer.Added:
			s.count++
		case informer.Deleted:
			s.count--
		}
		s.printed(s.w.out.event(line))
	})
}

// printSynced prints SYNCED and the answers, once.
func (s *session[T]) printSynced() {
	if s.isSynced {
		return
	}
	s.isSynced = true
	// The cache may be ahead of the events that were printed.
	snapshot := s.informer.Snapshot()
	s.printed(s.w.out.synced(syncedLine{Time: time.Now(), Type: "SYNCED", Count: s.count, ResourceVersion: snapshot.ResourceVersion()}))
	for _, a := range s.answers(snapshot) {
		s.printed(s.w.out.answer(a))
	}
}

// answers asks the cache what --get and --by-ip want to know.
func (s *session[T]) answers(snapshot *indexer.Snapshot[T]) []answerLine {
	var lines []answerLine
	for _, key := range s.w.get {
		line := answerLine{Time: time.Now(), Type: "ANSWER", Query: "get", Value: key.String(), Objects: []dumpedEntry{}}
		if item, ok := snapshot.Item(key); ok {
			line.Objects = append(line.Objects, entryOf(item))
		}
		lines = append(lines, line)
	}
	if ip := s.w.byIP; ip.IsValid() {
		line := answerLine{Time: time.Now(), Type: "ANSWER", Query: byIP, Value: ip.String(), Objects: []dumpedEntry{}}
		keys, err := snapshot.IndexKeys(byIP, ip.String())
		if err != nil {
			s.end(err)
		}
		for _, text := range keys {
			if key, err := object.ParseKey(text); err == nil {
				if item, ok := snapshot.Item(key); ok {
					line.Objects = append(line.Objects, entryOf(item))
				}
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// onStatus prints an error when it begins. Before the first sync, an error that
// waiting can't mend ends the watch. The reflector's goroutine calls it.
func (s *session[T]) onStatus(status reflector.Status) {
	if status.LastError == nil {
		s.trouble = ""
		return
	}
	err := &hostError{s.host, status.LastError}
	fatal := !s.informer.HasSynced() && (unreachable(err) || refused(err))
	if reason := reasonWord(err); reason != s.trouble {
		s.trouble = reason
		s.postProblem(errorLine{Reason: reason, Message: oneLine(err), fatal: fatal})
	}
	if fatal {
		s.end(err)
	}
}

func (s *session[T]) onQuarantine(q reflector.Quarantine) {
	s.postProblem(errorLine{Reason: "Quarantined", Message: fmt.Sprintf("%s can't be used: %s", q.Key, oneLine(q.Err))})
}

func (s *session[T]) postProblem(line errorLine) {
	line.Time, line.Type = time.Now(), "ERROR"
	s.post(func() { s.printed(s.w.out.problem(line)) })
}

func (s *session[T]) statusLine() statusLine {
	status := s.informer.Status()
	line := statusLine{
		Time: time.Now(), Type: "STATUS", Synced: status.Synced, Objects: status.Objects,
		ResourceVersion: status.StoreVersion, Lists: status.Lists, Watches: status.Watches,
		Relists: map[string]int{}, Dropped: status.Dropped, Quarantined: status.Quarantined,
	}
	for reason, n := range status.Relists {
		line.Relists[string(reason)] = n
	}
	if status.LastError != nil {
		text := oneLine(&hostError{s.host, status.LastError})
		line.LastError = &text
	}
	return line
}
