package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes (L1).
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// run is the program: arguments in, exit code out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	name := "informerlab"
	if cmd != nil {
		name = cmd.CommandPath()
	}
	return report(stderr, name, err)
}

// report says what failed and returns the exit code for it.
func report(stderr io.Writer, name string, err error) int {
	if stop, ok := errors.AsType[*interrupted](err); ok {
		// Whoever pressed Ctrl-C knows; what went wrong on the way out is news.
		for _, other := range joined(err) {
			if _, ok := errors.AsType[*interrupted](other); !ok {
				fmt.Fprintf(stderr, "%s: %s\n", name, oneLine(other))
			}
		}
		return stop.exitCode()
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprintf(stderr, "%s: %s; see '%s --help'\n", name, oneLine(err), name)
		return exitUsage
	}
	fmt.Fprintf(stderr, "%s: %s\n", name, oneLine(err))
	return exitFailed
}

// joined are the parts of an error made by errors.Join.
func joined(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	return []error{err}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "informerlab",
		Short: "See what an informer does and what it costs",
		Long: `See what an informer does and what it costs: a local cache of a Kubernetes
resource, kept current by watching instead of polling.

Every command works without a cluster; --kubeconfig FILE runs it on a real one.`,
		Example:       "  informerlab compare",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(newCompare(), newWatch(), newServe())
	root.SetHelpCommand(newHelp())
	return root
}

// newHelp is cobra's help command, but for a word that is no command: that is
// an error, not the general help.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || about == nil || len(rest) > 0 {
				return usagef("no help on %q: no such command", strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// noArguments refuses whatever is no flag.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasAvailableSubCommands() {
		return usagef("unknown command %q", args[0])
	}
	return usagef("unexpected argument %q", args[0])
}

// version names this build and what it was built with.
func version() string {
	own, peer := "(unknown)", "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok {
		own = info.Main.Version
		for _, dep := range info.Deps {
			if dep.Path == "k8s.io/client-go" {
				peer = dep.Version
			}
		}
	}
	return fmt.Sprintf("informerlab %s, client-go %s, %s %s/%s", own, peer, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
