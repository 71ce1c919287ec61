package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	runs "nfchain.dev/nfchain/internal/run"
)

// listing is what ls prints as JSON.
type listing struct {
	SchemaVersion int         `json:"schema_version"`
	Chains        []runs.Live `json:"chains"`
}

func (a *app) lsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Short: "List the chains and functions that are there, whole or in part",
		Long: `List the chains and standalone functions of which anything is there. Each is compared
with its plan, as ` + "`up --dry-run`" + ` does: it is up, partial when something of it is missing,
changed when something is not as planned, or failing when all is as planned and a program does not
run, or a function that is watched has failed; ` + "`show`" + ` says what.`,
		Example: "  nfchain ls\n  nfchain ls -o json", Args: cobra.NoArgs,
	}
	var o *string
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, _ []string) error {
		list, err := a.host(cmd.Context()).List(cmd.Context())
		if err != nil {
			return err
		}
		if *o == "json" {
			return a.printJSON(listing{1, list})
		}
		w := a.table("NAME\tKIND\tSTATE\tWIRING\tFUNCTIONS\tNAMESPACES")
		for _, l := range list {
			state := l.State
			if l.Temporary {
				state += " (of a bench)"
			}
			if l.State == runs.StateFailing {
				state += ": " + strings.Join(l.Failing, ", ")
			}
			w.row("%s\t%s\t%s\t%s\t%d\t%d\n", l.Name, l.Kind, state, l.Wiring, l.Functions, l.Namespaces)
		}
		return w.end()
	}))
	o = outputFlag(cmd, "text", "json")
	return cmd
}

// planned gives the plan of a chain from a file, or of a chain or standalone
// function that is up.
func (a *app) planned(ctx context.Context, arg string) (*plan.Plan, error) {
	h := a.host(ctx)
	if err := wholeChain(arg); err != nil {
		return nil, err
	}
	if isFile(arg) {
		chain, alone, err := a.chain(h, arg)
		if err != nil {
			return nil, err
		}
		p, err := h.Plan(chain, alone, plan.Options{})
		return p, a.placed(err, arg)
	}
	if err := checkName(arg); err != nil {
		return nil, err
	}
	p, err := h.Made(arg)
	return p, known(err, arg)
}

// live is the plan of a chain whose nodes a command looks at, and which must be up for it.
func (a *app) live(ctx context.Context, arg, command string) (*plan.Plan, error) {
	p, err := a.planned(ctx, arg)
	if err != nil {
		return nil, err
	}
	if err := a.host(ctx).NeedsHops(p.Wiring, p.OnMachine(), command); err != nil {
		return nil, err
	}
	nodes, err := deploy.Nodes(p.Chain)
	if err == nil && len(nodes) == 0 {
		return nil, fmt.Errorf("%s is not up; bring it up first, by `nfchain up`: %w", p.Chain, runs.ErrInput)
	}
	return p, err
}

// chain gives a chain, from a file with the functions that stand alone there, or one
// that is up.
func (a *app) chain(h *runs.Host, arg string) (api.Chain, []api.StandaloneFunction, error) {
	if err := wholeChain(arg); err != nil {
		return api.Chain{}, nil, err
	}
	if isFile(arg) {
		chain, file, _, err := a.oneChain(arg)
		if err != nil {
			return chain, nil, err
		}
		return chain, file.Functions, nil
	}
	if err := checkName(arg); err != nil {
		return api.Chain{}, nil, err
	}
	chain, err := h.Chain(arg)
	return chain, nil, known(err, arg)
}
