package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/plan"
)

func (a *app) planCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "plan FILE", Short: "Print everything `up` would make, before it is made",
		Long: `Print everything that ` + "`up`" + ` would make of a chain: as text, as JSON, or as a shell
script of the same ip, tc, nft and iptables commands, which works by itself.`,
		Example: "  nfchain plan examples/edge-chain.yaml\n  nfchain plan examples/edge-chain.yaml -o sh > edge.sh",
		Args:    cobra.ExactArgs(1),
	}
	var o *string
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		p, err := a.planned(cmd.Context(), args[0], plan.Options{})
		if err != nil {
			return err
		}
		switch *o {
		case "json":
			return a.printJSON(p)
		case "sh":
			_, err = fmt.Fprint(a.stdout, p.Script())
			return err
		}
		_, err = fmt.Fprint(a.stdout, strings.TrimRight(p.Text(), "\n")+"\n")
		return err
	}))
	o = outputFlag(cmd, "text", "json", "sh")
	return cmd
}
