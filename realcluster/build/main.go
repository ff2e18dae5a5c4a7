// Command build compiles etcd, kube-apiserver and kubectl for the tests of this
// module, unless that has been done, and prints the folder they are in.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"informer.example/realcluster"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := realcluster.Binaries(ctx, os.Stderr)
	switch {
	case ctx.Err() != nil:
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
	fmt.Println(dir)
}
