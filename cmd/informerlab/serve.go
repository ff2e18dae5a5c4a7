package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/spf13/cobra"

	"informer.example/apisim"
)

func newServe() *cobra.Command {
	var addr string
	var objects, rate int
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the simulated API server alone, for curl and kubectl",
		Long: `Run the simulated API server alone, with pods that change. It speaks the list
and watch of a real API server, in JSON and protobuf, and forgets everything
when it ends. It has no users and no TLS, so it listens on loopback only.`,
		Example: "  informerlab serve --addr 127.0.0.1:8001 --objects 100 --rate 1",
		Args:    noArguments,
	}
	f := cmd.Flags()
	f.StringVar(&addr, "addr", "127.0.0.1:0", "loopback `HOST:PORT` to listen on; port 0 takes a free one")
	f.IntVar(&objects, "objects", 100, "pods at the start")
	f.IntVar(&rate, "rate", 1, "writes a second; 0 for none")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := validateEmbedded(objects, rate); err != nil {
			return err
		}
		addr, err := loopback(addr)
		if err != nil {
			return err
		}
		server := newEmbedded()
		ctx, cancel := context.WithCancel(cmd.Context())
		defer cancel()
		url, wait, err := server.Serve(ctx, addr)
		if err != nil {
			return err
		}
		if err := server.populate(ctx, apisim.Pods().GVR, true, objects, rate); err != nil {
			return err
		}
		defer server.stop()
		_, err = fmt.Fprintf(cmd.OutOrStdout(), `%[1]s
%[2]d pods, %[3]d writes/s, resourceVersion %[4]s; Ctrl-C ends it. Try:

  kubectl --server %[1]s get pods -A --watch
  curl '%[1]s/api/v1/pods?limit=1'
  curl -N '%[1]s/api/v1/pods?watch=1&resourceVersion=%[4]s&allowWatchBookmarks=true'
  curl -N '%[1]s/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  curl -X DELETE '%[1]s/api/v1/namespaces/team-01/pods/%[5]s'
`, url, objects, rate, server.ResourceVersion(), apisim.RealisticPod(1).Name)
		if err != nil {
			return fmt.Errorf("write the output: %w", err)
		}
		if err := wait(); err != nil {
			return err
		}
		return context.Cause(cmd.Context())
	}
	return cmd
}

// loopback completes ":PORT" and refuses what other machines can reach.
func loopback(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", usagef("--addr %q: want HOST:PORT, such as 127.0.0.1:0", addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", usagef("--addr %q: the port must be a number from 0 to 65535", addr)
	}
	switch ip, err := netip.ParseAddr(host); {
	case host == "" || host == "localhost":
		host = "127.0.0.1"
	case err != nil:
		return "", usagef("--addr %q: %q is no IP address; give 127.0.0.1 or ::1", addr, host)
	case !ip.IsLoopback():
		return "", usagef("--addr %q: not a loopback address, and the server has no access control; give 127.0.0.1 or ::1", addr)
	}
	return net.JoinHostPort(host, port), nil
}
