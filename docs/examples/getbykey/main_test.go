package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/rest"

	"informer.example/docs/examples/internal/example"
	"informer.example/docs/examples/internal/exampletest"
)

func TestGetByKey(t *testing.T) {
	for _, tc := range []struct {
		key, want string
	}{
		{"default/web-1", `pod default/web-1 has IP "10.0.2.2"`},
		{"default/web-2", `pod default/web-2 has IP ""`},
		{"", `pod data/db-0 has IP "10.0.2.1"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := exampletest.NewServer(t).Start(with(tc.key))
			p.Expect(tc.want)
			p.Done()
		})
	}
}

func TestGetByKeyFails(t *testing.T) {
	for key, want := range map[string]string{
		"default/none": "there is no pod default/none",
		"a/b/c":        "more than one slash",
	} {
		synctest.Test(t, func(t *testing.T) {
			p := exampletest.NewServer(t).Start(with(key))
			p.Expect()
			if err := p.Fails(); !strings.Contains(err.Error(), want) {
				t.Errorf("-pod %s: the error is %v, want %q", key, err, want)
			}
		})
	}
}

func TestGetByKeyNoPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := exampletest.NewServer(t)
		server.RemoveAll()
		p := server.Start(with(""))
		p.Expect("there are no pods")
		p.Done()
	})
}

func with(key string) example.Program {
	return func(ctx context.Context, cfg *rest.Config, out io.Writer) error { return run(ctx, cfg, out, key) }
}
