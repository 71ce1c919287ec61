package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	runs "nfchain.dev/nfchain/internal/run"
)

func (a *app) validateCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "validate FILE...", Short: "Check files and print everything wrong with them",
		Example: "  nfchain validate examples/edge-chain.yaml",
		Args:    cobra.MinimumNArgs(1),
	}
	cmd.RunE = does(func(_ *cobra.Command, args []string) error {
		var all api.Problems
		for _, name := range args {
			f, _, err := a.file(name)
			var problems api.Problems
			if errors.As(err, &problems) {
				all = append(all, problems...)
				continue
			}
			if err != nil {
				return err
			}
			a.printf("%s: %d chain(s), %d function(s), %d experiment(s), nothing wrong\n",
				name, len(f.Chains), len(f.Functions), len(f.Experiments))
		}
		if len(all) > 0 {
			return all
		}
		return nil
	})
	return cmd
}

func (a *app) upCmd() *cobra.Command {
	var o runs.UpOptions
	cmd := &cobra.Command{
		Use: "up FILE", Short: "Bring a file's chains and functions up, changing only what differs",
		Long: `Bring up every chain and standalone function of a file. What is there already is
compared with the file and only the difference is made; a second run changes
nothing and says so.`,
		Example: "  nfchain up examples/edge-chain.yaml --wait\n  nfchain up edge.yaml --dry-run",
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		f, _, err := a.file(args[0])
		if err != nil {
			return err
		}
		if len(f.Chains)+len(f.Functions) == 0 {
			return fmt.Errorf("%s holds no chain and no function; experiments are run by `nfchain experiment run`: %w", args[0], runs.ErrInput)
		}
		h := a.host(cmd.Context())
		o.Alone = f.Functions
		for _, fn := range f.Functions {
			if err := a.upOne(cmd.Context(), h, fn.Metadata.Name, "function", o, func() ([]resource.Change, error) {
				return h.UpFunction(cmd.Context(), fn, o)
			}); err != nil {
				return err
			}
		}
		for _, chain := range f.Chains {
			if err := a.upOne(cmd.Context(), h, chain.Metadata.Name, "chain", o, func() ([]resource.Change, error) {
				_, changes, err := h.Up(cmd.Context(), chain, o)
				return changes, err
			}); err != nil {
				return err
			}
		}
		return nil
	}))
	cmd.Flags().BoolVar(&o.Wait, "wait", false, "wait until every function is ready")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would change and change nothing")
	return cmd
}

// upOne brings one thing up under its lock and says what changed. When it is
// interrupted or fails, what this command made anew is removed again.
func (a *app) upOne(ctx context.Context, h *runs.Host, name, kind string, o runs.UpOptions, up func() ([]resource.Change, error)) error {
	lock, err := h.Lock(ctx, name)
	if err != nil {
		return err
	}
	defer lock.Release()
	before, err := deploy.Nodes(name)
	if err != nil {
		return err
	}
	if err := h.CheckKind(name, kind); err != nil {
		return err
	}
	changes, err := up()
	a.bar.clear()
	if err != nil {
		if len(before) == 0 && !o.DryRun {
			if _, down := h.Down(context.WithoutCancel(ctx), name); down != nil {
				return fmt.Errorf("%w; and removing what was made failed: %w", err, down)
			}
		}
		return err
	}
	a.printf("%s\n", summary(name, changes, o.DryRun))
	if o.DryRun {
		for _, c := range changes {
			a.printf("  %s %s\n", c.Op, c.ID)
		}
	}
	return nil
}

func (a *app) downCmd() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "down NAME...", Short: "Remove chains and functions, with everything they are made of",
		Long: `Remove chains and standalone functions by name. They are found by the mark that
everything of theirs carries, so nothing need be known of how they were made.`,
		Example:           "  nfchain down edge\n  nfchain down --all",
		ValidArgsFunction: a.completeChains,
	}
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		h := a.host(cmd.Context())
		if all == (len(args) > 0) {
			return fmt.Errorf("say which chains, or --all: %w", runs.ErrInput)
		}
		if all {
			var err error
			if args, err = deploy.Owners(); err != nil {
				return err
			}
		}
		// Chains first: a function that stands alone is kept while one goes through it.
		slices.SortStableFunc(args, func(x, y string) int { return alone(x) - alone(y) })
		for _, name := range args {
			if err := a.downOne(cmd.Context(), h, name); err != nil {
				return err
			}
		}
		return nil
	}))
	cmd.Flags().BoolVar(&all, "all", false, "every chain and function there is")
	return cmd
}

// alone is 1 for a standalone function and 0 for a chain.
func alone(name string) int {
	if netns.Exists(namespace.Alone(name)) {
		return 1
	}
	return 0
}

func (a *app) downOne(ctx context.Context, h *runs.Host, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	lock, err := h.Lock(ctx, name)
	if err != nil {
		return err
	}
	defer lock.Release()
	// What has begun is finished: a chain half removed is worth nothing.
	n, err := h.Down(context.WithoutCancel(ctx), name)
	a.bar.clear()
	if err != nil {
		return err
	}
	if n == 0 {
		a.printf("%s: nothing was there\n", name)
		return nil
	}
	a.printf("%s: removed, with %d namespace(s)\n", name, n)
	return nil
}

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
or changed when something is not as planned; ` + "`show`" + ` says what.`,
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
			w.row("%s\t%s\t%s\t%s\t%d\t%d\n", l.Name, l.Kind, state, l.Wiring, l.Functions, l.Namespaces)
		}
		return w.end()
	}))
	o = outputFlag(cmd, "text", "json")
	return cmd
}

func (a *app) completeChains(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	owners, err := deploy.Owners()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return owners, cobra.ShellCompDirectiveNoFileComp
}

// planned gives the plan of a chain from a file, or of a chain or standalone
// function that is up.
func (a *app) planned(ctx context.Context, arg string) (*plan.Plan, error) {
	h := a.host(ctx)
	if isFile(arg) {
		chain, alone, err := a.chain(h, arg)
		if err != nil {
			return nil, err
		}
		return h.Plan(chain, alone, plan.Options{})
	}
	if err := checkName(arg); err != nil {
		return nil, err
	}
	return h.Made(arg)
}

// chain gives a chain, from a file with the functions that stand alone there, or one
// that is up.
func (a *app) chain(h *runs.Host, arg string) (api.Chain, []api.StandaloneFunction, error) {
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
	return chain, nil, err
}
