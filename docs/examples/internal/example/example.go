// Package example is what the example programs share: their flags, and a
// server for them to talk to.
package example

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"informer.example/apisim"
)

// The embedded server: so many pods, changing at such a rate.
const (
	pods            = 20
	writesPerSecond = 5
)

// Program is an example without its flags. It returns nil when ctx ends, or
// earlier when it has nothing more to say.
type Program func(ctx context.Context, cfg *rest.Config, out io.Writer) error

// Main parses the command line, runs the program against the server it names,
// and exits: 0 when the program is done or its time is up, 1 on an error, 2 on
// wrong usage, 130 when interrupted. A program's own flags must be defined
// before.
func Main(run Program) {
	kubeconfig := flag.String("kubeconfig", "", "`file` that leads to a real cluster; without it, an embedded server with pods that change")
	limit := flag.Duration("for", 5*time.Second, "how long to run; 0 means until interrupted")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(flag.CommandLine.Output(), "unexpected argument %q\n", flag.Arg(0))
		flag.Usage()
		os.Exit(2)
	}
	os.Exit(exitCode(run, *kubeconfig, *limit))
}

func exitCode(run Program, kubeconfig string, limit time.Duration) int {
	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx := interrupted
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("the time is up (-for %v)", limit))
		defer cancel()
	}
	err := onServer(ctx, run, kubeconfig)
	switch {
	case interrupted.Err() != nil:
		return 130
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		return 1
	}
	return 0
}

// onServer runs the program on the cluster, or on an embedded server that
// lives as long as the program does.
func onServer(ctx context.Context, run Program, kubeconfig string) (err error) {
	if kubeconfig != "" {
		cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return fmt.Errorf("-kubeconfig %s: %w", kubeconfig, err)
		}
		return run(ctx, cfg, os.Stdout)
	}
	server := apisim.New()
	if err := fill(server); err != nil {
		return err
	}
	churning, stop := context.WithCancel(ctx)
	churned := make(chan error, 1)
	go func() {
		churned <- server.Churn(churning, apisim.ChurnOptions{Rate: writesPerSecond, Next: pods})
	}()
	defer func() {
		stop()
		err = errors.Join(err, <-churned)
	}()
	return run(ctx, server.Config(), os.Stdout)
}

// fill creates pods, and the nodes that they are on.
func fill(server *apisim.Server) error {
	if err := server.Fill(pods); err != nil {
		return err
	}
	for i := range pods {
		name := apisim.RealisticPod(i).Spec.NodeName
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := server.Apply(apisim.Nodes().GVR, node); err != nil {
			return fmt.Errorf("create node %s: %w", name, err)
		}
	}
	return nil
}
