package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
)

func (a *app) planCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "plan FILE...", Short: "Print everything `up` would make, before it is made",
		Long: `Print everything that ` + "`up`" + ` would make of a chain: as text, as JSON, or as a shell
script of the same ip, tc, nft and iptables commands, which works by itself. What those
cannot say (a program that is kept running, an interface that is put back later, a burst
of 4 GiB or more) the script calls nfchain for, and says so.

With --share, functions that several chains of the files have alike become one, which
each of the chains goes through with interfaces and a routing table of its own. It says
what is shared, what is not and why, and how many namespaces that saves. A script then
makes the functions and all of the chains.`,
		Example: "  nfchain plan examples/edge-chain.yaml\n  nfchain plan examples/edge-chain.yaml -o sh > edge.sh\n  nfchain plan --share examples/tenant-shop.yaml examples/tenant-bank.yaml",
	}
	var o *string
	share := shareFlag(cmd)
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		h := a.host(cmd.Context())
		if *share {
			return a.planShared(h, args, *o)
		}
		chain, alone, err := a.chain(h, args[0])
		if err != nil {
			return err
		}
		p, err := h.Plan(chain, alone, plan.Options{})
		if err != nil {
			return a.placed(err, args[0])
		}
		if err := h.Vacant(p); err != nil {
			return a.placed(err, args[0])
		}
		switch *o {
		case "json":
			return a.printJSON(p)
		case "sh":
			remembering, err := h.Remembering(chain, alone, p)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(a.stdout, p.Script(remembering))
			return err
		}
		_, err = fmt.Fprint(a.stdout, strings.TrimRight(p.Text(), "\n")+"\n")
		return err
	}))
	o = outputFlag(cmd, "text", "json", "sh")
	return cmd
}

func (a *app) applyCmd() *cobra.Command {
	cmd := &cobra.Command{Use: plan.ApplyCommand + " CHAIN KIND [NAMESPACE]", Short: "Make what a plan's script cannot", Hidden: true,
		Args: cobra.RangeArgs(2, 3), Example: "  nfchain apply edge process < spec.json"}
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		if err := checkName(args[0]); err != nil {
			return err
		}
		spec, err := a.read("-")
		if err != nil {
			return err
		}
		lock, err := a.host(cmd.Context()).Lock(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		defer lock.Release()
		changing, err := deploy.Acquire(cmd.Context(), deploy.Changes(args[0]), func(int) {})
		if err != nil {
			return err
		}
		defer changing.Release()
		namespace := netns.Host
		if len(args) == 3 {
			namespace = args[2]
		}
		return deploy.Apply(cmd.Context(), args[0], args[1], namespace, spec)
	})
	return cmd
}
