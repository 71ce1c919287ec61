package main

import (
	"fmt"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plugin"
	runs "nfchain.dev/nfchain/internal/run"
)

func (a *app) cniCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cni", Short: "Put another runtime's container into a chain, as its CNI plugin",
		Long: `Be a plugin of the Container Network Interface (CNI 0.3.1 to 1.1.0). A runtime calls it with ` + plugin.CommandVariable + `
in the environment and a network's configuration at standard input; a binary of any name does the same when it is
called with that and without arguments, so that a link called nfchain in the runtime's directory of plugins is enough:

  {"cniVersion": "1.0.0", "name": "edge-client", "plugins": [
    {"type": "nfchain", "chain": "/etc/nfchain/edge.yaml", "role": "client"}]}

A container of that network takes the place of the endpoint client of that chain, at which the file says runtime: cni.
docs/cni.md tells the rest.`,
		Example: "  CNI_COMMAND=VERSION nfchain cni\n  ln -s /usr/local/bin/nfchain /opt/cni/bin/nfchain",
		Args:    cobra.NoArgs,
	}
	cmd.RunE = does(func(cmd *cobra.Command, _ []string) error {
		if a.getenv(plugin.CommandVariable) == "" {
			return fmt.Errorf("a container runtime calls this, and says by %s what to do; `nfchain cni --help` shows the configuration that has it do so: %w", plugin.CommandVariable, runs.ErrInput)
		}
		p := plugin.Plugin{Host: a.host, Read: a.oneForCNI, Placed: a.placed, Remark: a.say}
		if p.Call(cmd.Context()) != nil {
			return exitCode{exitFailed} // which it has said, as runtimes read it
		}
		return nil
	})
	return cmd
}

// oneForCNI reads a file that a network's configuration names.
func (a *app) oneForCNI(name string) (api.Chain, error) {
	chain, file, _, err := a.oneChain(name)
	if err == nil && len(file.Functions) > 0 {
		err = fmt.Errorf("%s holds function %s, which stands alone; bring it up by a file of its own before containers come: %w", name, file.Functions[0].Metadata.Name, runs.ErrInput)
	}
	return chain, err
}
