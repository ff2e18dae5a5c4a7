package main

import (
	"net/netip"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"informer.example/informer"
	"informer.example/object"
	"informer.example/reflector"
)

// watchFlags is the command line of watch, as it was given.
type watchFlags struct {
	cluster                   kubeconfig
	namespace, labels, fields string
	encoding, queue, output   string
	byIP, dump                string
	get                       []string
	limit                     time.Duration
	objects, rate             int
}

// watching is what watch has been asked to do, checked.
type watching struct {
	namespace, labels, fields string
	encoding                  reflector.Encoding
	queue                     informer.QueueKind
	byIP                      netip.Addr // invalid: not asked
	get                       []object.Key
	dump                      string
	limit                     time.Duration // 0: none
	out                       printer
}

func newWatch() *cobra.Command {
	var flags watchFlags
	cmd := &cobra.Command{
		Use:   "watch RESOURCE[.VERSION.GROUP]",
		Short: "Print what happens to a resource, as a handler is told it",
		Long: `Print what happens to a resource, as a handler is told it, and answer questions
from the cache. Without --kubeconfig the objects are those of a simulated server,
which has pods and the other common resources, and widgets.v1.informerlab.example
as a custom one.

RESOURCE is the plural name. With -o json each line is an object: ADDED, UPDATED
or DELETED for an event, SYNCED when the first list has been told, ANSWER for
--get and --by-ip, ERROR when something has gone wrong, STATUS as the last line.`,
		Example: "  informerlab watch pods --by-ip 10.64.0.3 --for 10s",
	}
	f := cmd.Flags()
	flags.cluster.flags(cmd, "to watch (default: a simulated server)")
	f.StringVarP(&flags.namespace, "namespace", "n", "", "only this namespace (default: all)")
	f.StringVarP(&flags.labels, "selector", "l", "", "only objects with these labels, such as app=app-03")
	f.StringVar(&flags.fields, "field-selector", "", "only objects with these fields, such as status.phase=Running")
	f.StringVar(&flags.encoding, "encoding", "auto", "wire format, `auto|json|protobuf`")
	f.StringVar(&flags.queue, "queue", "inorder", "queue between reflector and store, `inorder|deltafifo`")
	f.StringVarP(&flags.output, "output", "o", "text", "output format, `text|json`")
	f.StringVar(&flags.byIP, "by-ip", "", "once synced, print the pods with this `IP`")
	f.StringArrayVar(&flags.get, "get", nil, "once synced, print the object with this key: `NAMESPACE/NAME`, or NAME; repeatable")
	f.StringVar(&flags.dump, "dump", "", "on exit write the cache to `FILE`: a JSON array of key, uid, resourceVersion")
	f.DurationVar(&flags.limit, "for", 0, "end after this time (default: at Ctrl-C)")
	f.IntVar(&flags.objects, "objects", 20, "objects on the simulated server")
	f.IntVar(&flags.rate, "rate", 2, "writes a second on the simulated server")

	cmd.Args = func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return usagef("which resource? Give its plural name, such as pods")
		case 1:
			return nil
		}
		return usagef("one resource at a time; unexpected argument %q", args[1])
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := parseResource(args[0])
		if err != nil {
			return err
		}
		w, err := flags.check(cmd, name)
		if err != nil {
			return err
		}
		return w.run(cmd.Context(), name, flags)
	}
	return cmd
}

// check turns the flags into what they mean. Its errors are about the command
// line alone.
func (f *watchFlags) check(cmd *cobra.Command, name resourceName) (*watching, error) {
	w := &watching{namespace: f.namespace, labels: f.labels, fields: f.fields, dump: f.dump, limit: f.limit}
	known, isKnown := name.known()
	if err := f.cluster.validate(cmd); err != nil {
		return nil, err
	}
	if err := validateEmbedded(f.objects, f.rate); err != nil {
		return nil, err
	}
	if f.cluster.file != "" && (cmd.Flags().Changed("objects") || cmd.Flags().Changed("rate")) {
		return nil, usagef("--objects and --rate are for the simulated server; nothing is written to a real one")
	}
	if f.namespace != "" && !namePattern.MatchString(f.namespace) {
		return nil, usagef("--namespace %q: a namespace has only lower case letters, digits and dashes", f.namespace)
	}
	if f.namespace != "" && isKnown && !known.namespaced {
		return nil, usagef("--namespace: %s are not in namespaces", name.resource)
	}
	if _, err := labels.Parse(f.labels); err != nil {
		return nil, usagef("--selector %q: %v", f.labels, err)
	}
	if _, err := fields.ParseSelector(f.fields); err != nil {
		return nil, usagef("--field-selector %q: %v", f.fields, err)
	}
	if f.limit < 0 {
		return nil, usagef("--for %v: must not be negative", f.limit)
	}

	encodings := map[string]reflector.Encoding{"auto": reflector.EncodingAuto, "json": reflector.EncodingJSON, "protobuf": reflector.EncodingProtobuf}
	queues := map[string]informer.QueueKind{"inorder": informer.InOrder, "deltafifo": informer.DeltaFIFO}
	var ok bool
	if w.encoding, ok = encodings[f.encoding]; !ok {
		return nil, usagef("--encoding %q: must be auto, json or protobuf", f.encoding)
	}
	if w.queue, ok = queues[f.queue]; !ok {
		return nil, usagef("--queue %q: must be inorder or deltafifo", f.queue)
	}
	if !slices.Contains([]string{"text", "json"}, f.output) {
		return nil, usagef("--output %q: must be text or json", f.output)
	}
	w.out = newPrinter(f.output, cmd.OutOrStdout(), cmd.ErrOrStderr())

	if cmd.Flags().Changed("by-ip") {
		ip, err := netip.ParseAddr(f.byIP)
		switch {
		case err != nil:
			return nil, usagef("--by-ip %q: no IP address", f.byIP)
		case !isKnown || known.gvr.Resource != "pods":
			return nil, usagef("--by-ip: only pods have IPs to be found by")
		}
		w.byIP = ip
	}
	for _, text := range f.get {
		key, err := object.ParseKey(text)
		switch {
		case err != nil:
			return nil, usagef("--get: %v", err)
		case isKnown && known.namespaced && key.Namespace == "":
			return nil, usagef("--get %q: %s are in namespaces; give NAMESPACE/NAME", text, name.resource)
		case isKnown && !known.namespaced && key.Namespace != "":
			return nil, usagef("--get %q: %s are not in namespaces; give NAME", text, name.resource)
		}
		w.get = append(w.get, key)
	}
	return w, nil
}
