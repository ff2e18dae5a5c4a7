package realcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// stepTimeout bounds each start and stop of a server when ctx sets no nearer
// deadline. The pair starts in four seconds on two idle cores; very busy ones have
// needed more than a minute.
const stepTimeout = 3 * time.Minute

// Options changes how a cluster is started. The zero value is a plain one.
type Options struct {
	// APIServerFlags are set on kube-apiserver, without the leading dashes. A
	// flag with several values is passed once for each.
	APIServerFlags map[string][]string
	// EtcdFlags are the same for etcd.
	EtcdFlags map[string][]string
	// CRDs are installed, and served, before Start returns.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// Progress gets lines while binaries are built. Nil means os.Stderr.
	Progress io.Writer
}

// Cluster is a running etcd and kube-apiserver.
//
// Methods may be called from several goroutines. The ones that start or stop a
// server exclude each other.
type Cluster struct {
	dir    string // holds everything the servers write; ours to remove
	bin    string // unguarded binaries
	env    *envtest.Environment
	config *rest.Config
	logs   []*os.File

	// mu guards the two servers' processes and what follows.
	mu      sync.Mutex
	serving bool
	stopped bool
	etcd    etcdHandle
}

// Start builds the binaries if need be and starts both servers. When it returns
// without error the API server is ready and the default namespace exists. The
// caller must call Stop.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	progress := opts.Progress
	if progress == nil {
		progress = os.Stderr
	}
	bin, err := Binaries(ctx, progress)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "realcluster-")
	if err != nil {
		return nil, fmt.Errorf("make the servers' folder: %w", err)
	}
	// envtest would print a stack trace because nobody chose a logger.
	logf.SetLogger(logr.Discard())
	c := &Cluster{dir: dir, bin: bin}
	if err := c.start(ctx, opts); err != nil {
		err = fmt.Errorf("start a real API server: %w%s", err, c.lastWords())
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, opts Options) error {
	c.env = &envtest.Environment{
		CRDs: opts.CRDs,
		// USE_EXISTING_CLUSTER would point destructive tests at somebody's cluster.
		UseExistingCluster:       new(bool),
		ControlPlaneStartTimeout: timeLeft(ctx),
		ControlPlaneStopTimeout:  timeLeft(ctx),
	}
	server := c.env.ControlPlane.GetAPIServer()
	store := &envtest.Etcd{}
	c.env.ControlPlane.Etcd = store
	c.env.ControlPlane.KubectlPath = filepath.Join(c.bin, "kubectl")

	// With folders of our own, envtest keeps certificates and data across a stop.
	server.CertDir = filepath.Join(c.dir, "certs")
	store.DataDir = filepath.Join(c.dir, "data")
	for _, d := range []string{server.CertDir, store.DataDir} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	var err error
	if server.Path, err = writeGuard(c.dir, filepath.Join(c.bin, "kube-apiserver")); err != nil {
		return err
	}
	if store.Path, err = writeGuard(c.dir, filepath.Join(c.bin, "etcd")); err != nil {
		return err
	}
	// Files, not pipes: a pipe would tie a stop to whoever still holds its end.
	serverLog, err := c.openLog("kube-apiserver.log")
	if err != nil {
		return err
	}
	storeLog, err := c.openLog("etcd.log")
	if err != nil {
		return err
	}
	server.Out, server.Err = serverLog, serverLog
	store.Out, store.Err = storeLog, storeLog
	// Asked to stop, the server would wait a minute for open watches.
	server.Configure().Set("shutdown-watch-termination-grace-period", "1s")
	for name, values := range opts.APIServerFlags {
		server.Configure().Set(name, values...)
	}
	for name, values := range opts.EtcdFlags {
		store.Configure().Set(name, values...)
	}
	if c.config, err = c.env.Start(); err != nil {
		return err
	}
	c.serving = true
	if err := os.WriteFile(c.KubeconfigFile(), c.env.KubeConfig, 0o600); err != nil {
		return err
	}
	return c.waitReady(ctx)
}

func (c *Cluster) openLog(name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(c.dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	c.logs = append(c.logs, f)
	return f, nil
}

// Stop ends both servers and removes their files. Later calls do nothing.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil
	}
	c.stopped, c.serving = true, false
	errs := []error{c.etcd.close()}
	if c.env != nil {
		errs = append(errs, c.env.ControlPlane.Stop())
	}
	for _, f := range c.logs {
		errs = append(errs, f.Close())
	}
	errs = append(errs, os.RemoveAll(c.dir))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stop the real API server: %w", err)
	}
	return nil
}

// Config returns a copy of the configuration of a client that may do anything.
// It stays valid across RestartAPIServer.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// KubeconfigFile returns the path of a kubeconfig with the same rights as Config.
// The file is removed by Stop.
func (c *Cluster) KubeconfigFile() string { return filepath.Join(c.dir, "kubeconfig") }

// AddUser returns the configuration of a client that is known to the API server
// by name and groups, and may do what RBAC allows them: at first nearly nothing.
func (c *Cluster) AddUser(name string, groups ...string) (*rest.Config, error) {
	user, err := c.env.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return nil, fmt.Errorf("add user %s: %w", name, err)
	}
	return rest.CopyConfig(user.Config()), nil
}

// Kubectl runs kubectl with the rights of Config and returns its standard output.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) ([]byte, error) {
	args = append([]string{"--kubeconfig", c.KubeconfigFile()}, args...)
	out, err := exec.CommandContext(ctx, filepath.Join(c.bin, "kubectl"), args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out, fmt.Errorf("kubectl %s: %w: %s", strings.Join(args[2:], " "), err, exit.Stderr)
	}
	return out, err
}

// lastWords returns the ends of the servers' logs, for the error of a failed start.
func (c *Cluster) lastWords() string {
	const most = 2000
	var b strings.Builder
	for _, f := range c.logs {
		text, err := os.ReadFile(f.Name())
		if err != nil || len(text) == 0 {
			continue
		}
		if len(text) > most {
			text = text[len(text)-most:]
		}
		fmt.Fprintf(&b, "\n--- end of %s:\n%s", filepath.Base(f.Name()), text)
	}
	return b.String()
}

// timeLeft turns ctx's deadline into the timeout that envtest wants.
func timeLeft(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(stepTimeout, max(time.Until(deadline), time.Millisecond))
	}
	return stepTimeout
}
