// Command record starts a real API server and records its answers, by default
// into the main module's testdata/wire.
//
// Run it in this module's folder: go run ./record [-o folder].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"informer.example/realcluster"
	"informer.example/realcluster/wire"
)

func main() {
	dir := flag.String("o", "../testdata/wire", "the folder to write to")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "record: unknown argument %q; usage: record [-o folder]\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := record(ctx, *dir)
	switch {
	case ctx.Err() != nil:
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func record(ctx context.Context, dir string) (err error) {
	cluster, err := realcluster.Start(ctx, realcluster.Options{
		CRDs: []*apiextensionsv1.CustomResourceDefinition{wire.WidgetCRD()},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	ix, err := wire.Record(ctx, cluster)
	if err != nil {
		return err
	}
	if err := wire.Write(dir, ix); err != nil {
		return err
	}
	size := 0
	for _, e := range ix.Exchanges {
		size += len(e.Body)
	}
	fmt.Printf("recorded %d answers of %s, %d KB, in %s\n", len(ix.Exchanges), ix.Server, size/1000, dir)
	return nil
}
