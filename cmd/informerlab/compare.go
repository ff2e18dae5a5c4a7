package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"informer.example/compare"
)

func newCompare() *cobra.Command {
	opts := compare.Options{}.WithDefaults()
	var asJSON bool
	var cluster kubeconfig
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Measure naive polling, ours and client-go side by side",
		Long: `Measure naive polling, our informer and client-go's on the same pods and the
same writes: requests, bytes, CPU time, peak memory, how stale a handler's
picture is, which states it never sees, and whether the final cache is right.

The subjects run one after the other, each in a process of its own, each on a
fresh simulated server in a process of its own. With --kubeconfig they run on a
real cluster, in a namespace that is made for the run and removed after it; its
pods ask for a scheduler that doesn't exist, so none of them starts.`,
		Example: "  informerlab compare --objects 20000 --encoding json",
		Args:    noArguments,
	}
	f := cmd.Flags()
	f.IntVar(&opts.Objects, "objects", opts.Objects, "pods at the start")
	f.IntVar(&opts.Rate, "rate", opts.Rate, "writes a second")
	f.DurationVar(&opts.Duration, "duration", opts.Duration, "how long to write, for each subject")
	f.StringVar((*string)(&opts.Encoding), "encoding", string(opts.Encoding), "wire format, `json|protobuf`")
	f.StringSliceVar(&opts.Subjects, "subjects", opts.Subjects, "which to run, of "+strings.Join(compare.SubjectNames(), ","))
	f.DurationVar(&opts.PollInterval, "poll-interval", opts.PollInterval, "pause between two polls of naive")
	f.Uint64Var(&opts.Seed, "seed", opts.Seed, "another seed makes other writes")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	cluster.flags(cmd, "to run on (default: a simulated server)")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cluster.validate(cmd); err != nil {
			return err
		}
		if err := opts.Validate(); err != nil {
			if e, ok := errors.AsType[*compare.OptionError](err); ok {
				return usagef("--%s %q: %s", e.Option, e.Value, e.Reason)
			}
			return err
		}
		if cluster.file != "" {
			if _, err := cluster.config(); err != nil {
				return err // before any process is started
			}
			opts.Kubeconfig, opts.Context = cluster.file, cluster.context
		}
		stderr := cmd.ErrOrStderr()
		fmt.Fprintf(stderr, "%s, one after the other: %d pods, %d writes/s for %v each, %s; about %v in all\n",
			strings.Join(opts.Subjects, ", "), opts.Objects, opts.Rate, opts.Duration, opts.Encoding, opts.Estimate().Round(time.Second))
		progress := newProgress(stderr, opts.Estimate())
		opts.OnProgress = progress.show
		result, err := compare.Run(cmd.Context(), opts)
		progress.done()
		if err != nil {
			return err
		}
		if asJSON {
			enc := json.NewEncoder(cmd.OutOrStdout())
			enc.SetIndent("", "  ")
			err = enc.Encode(result)
		} else {
			err = result.WriteTable(cmd.OutOrStdout())
		}
		if err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
		return result.Err()
	}
	return cmd
}
