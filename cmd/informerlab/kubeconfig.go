package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfig is the pair of flags that choose a real cluster.
type kubeconfig struct{ file, context string }

func (k *kubeconfig) flags(cmd *cobra.Command, use string) {
	cmd.Flags().StringVar(&k.file, "kubeconfig", "", "kubeconfig `FILE` of a real cluster "+use)
	cmd.Flags().StringVar(&k.context, "context", "", "`NAME` of a context in the kubeconfig (default: its current one)")
}

func (k *kubeconfig) validate(cmd *cobra.Command) error {
	switch {
	case k.file == "" && cmd.Flags().Changed("kubeconfig"):
		return usagef("--kubeconfig: no file named")
	case k.file == "" && k.context != "":
		return usagef("--context needs --kubeconfig")
	}
	return nil
}

// config reads the file. It contacts nobody.
func (k *kubeconfig) config() (*rest.Config, error) {
	if _, err := os.Stat(k.file); err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: k.file}
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: k.context}).ClientConfig()
	if err != nil {
		// The parser's own words name Go types.
		text, _, _ := strings.Cut(err.Error(), "; json parse error")
		return nil, fmt.Errorf("kubeconfig %s: %s", k.file, text)
	}
	return cfg, nil
}
