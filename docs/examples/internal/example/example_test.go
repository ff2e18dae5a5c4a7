package example

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// The embedded server has pods, they change, and it ends with the program.
func TestEmbeddedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := onServer(ctx, func(ctx context.Context, cfg *rest.Config, out io.Writer) error {
			client, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				return err
			}
			list := func() (int, string, error) {
				l, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
				if err != nil {
					return 0, "", err
				}
				return len(l.Items), l.ResourceVersion, nil
			}
			n, before, err := list()
			if err != nil {
				return err
			}
			if n < pods-1 || n > pods+1 {
				t.Errorf("%d pods at first, want about %d", n, pods)
			}
			time.Sleep(10 * time.Second)
			_, after, err := list()
			if err != nil {
				return err
			}
			if before == after {
				t.Errorf("nothing has changed in 10 s: still at version %s", after)
			}
			return errors.New("the program's own")
		}, "")
		if err == nil || err.Error() != "the program's own" {
			t.Errorf("the error is %v, want the program's", err)
		}
	})
}

func TestExitCode(t *testing.T) {
	for _, tc := range []struct {
		name string
		run  Program
		want int
	}{
		{"done", func(context.Context, *rest.Config, io.Writer) error { return nil }, 0},
		{"an error", func(context.Context, *rest.Config, io.Writer) error { return errors.New("no") }, 1},
		{"the time is up", func(ctx context.Context, _ *rest.Config, _ io.Writer) error {
			<-ctx.Done()
			if got := context.Cause(ctx).Error(); got != "the time is up (-for 1ms)" {
				t.Errorf("the cause is %q", got)
			}
			return nil
		}, 0},
	} {
		if got := exitCode(tc.run, "", time.Millisecond); got != tc.want {
			t.Errorf("%s: exit code %d, want %d", tc.name, got, tc.want)
		}
	}
}

func TestKubeconfigMissing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none")
	err := onServer(t.Context(), func(context.Context, *rest.Config, io.Writer) error {
		t.Error("the program ran")
		return nil
	}, file)
	if err == nil || !strings.Contains(err.Error(), "-kubeconfig "+file) {
		t.Errorf("the error is %v, want it to name the flag and the file", err)
	}
}
