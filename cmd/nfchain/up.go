package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/resource"
	runs "nfchain.dev/nfchain/internal/run"
)

func (a *app) upCmd() *cobra.Command {
	var o runs.UpOptions
	cmd := &cobra.Command{
		Use: "up FILE...", Short: "Bring a file's chains and functions up, changing only what differs",
		Long: `Bring up every chain and standalone function of a file. What is there already is
compared with the file and only the difference is made; a second run changes
nothing and says so. With --share, identical functions of the files' chains are one, as
` + "`plan --share`" + ` tells.`,
		Example: "  nfchain up examples/edge-chain.yaml --wait\n  nfchain up edge.yaml --dry-run\n  nfchain up --share examples/tenant-shop.yaml examples/tenant-bank.yaml",
	}
	var format *string
	share := shareFlag(cmd)
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		f, err := a.toDeploy(cmd.Context(), args, *share)
		if err != nil {
			return err
		}
		if len(f.Chains)+len(f.Functions) == 0 {
			return fmt.Errorf("%s holds no chain and no function; experiments are run by `nfchain experiment run`: %w", args[0], runs.ErrInput)
		}
		o.Alone = f.Functions
		done := deployed{SchemaVersion: 1, DryRun: o.DryRun, Items: []deployedItem{}}
		err = a.upAll(cmd.Context(), f, o, func(item deployedItem) {
			done.Items = append(done.Items, item)
			if *format == "text" {
				a.printItem(item, o.DryRun)
			}
		})
		if *format == "json" {
			err = errors.Join(err, a.printJSON(done))
		}
		return err
	}))
	format = outputFlag(cmd, "text", "json")
	cmd.Flags().BoolVar(&o.Wait, "wait", false, "wait until every function is ready")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would change and change nothing")
	return cmd
}

// toDeploy is what a file holds, or several whose chains share functions.
func (a *app) toDeploy(ctx context.Context, args []string, share bool) (*api.File, error) {
	if !share {
		f, _, err := a.file(args[0])
		return f, err
	}
	s, err := a.sharing(a.host(ctx), args)
	if err != nil {
		return nil, err
	}
	return &api.File{Functions: s.Functions, Chains: s.Chains}, nil
}

// deployed is what up prints as JSON: what was done, also when a later step failed.
type deployed struct {
	SchemaVersion int            `json:"schema_version"`
	DryRun        bool           `json:"dry_run"`
	Items         []deployedItem `json:"items"`
}

// deployedItem is one chain or standalone function and what was changed of it, or with
// a dry run would be.
type deployedItem struct {
	Name string `json:"name"`
	// Kind is chain or function.
	Kind    string        `json:"kind"`
	Changes []changedItem `json:"changes"`

	changes []resource.Change
}

// changedItem is one resource that was created, updated or deleted.
type changedItem struct {
	Op   resource.Op `json:"op"`
	ID   string      `json:"id"`
	Kind string      `json:"kind"`
}

func itemOf(name, kind string, changes []resource.Change) deployedItem {
	item := deployedItem{Name: name, Kind: kind, Changes: []changedItem{}, changes: changes}
	for _, c := range changes {
		item.Changes = append(item.Changes, changedItem{c.Op, c.ID, c.Kind})
	}
	return item
}

func (a *app) printItem(item deployedItem, dry bool) {
	a.printf("%s\n", summary(item.Name, item.changes, dry))
	if !dry {
		return
	}
	for _, c := range item.Changes {
		a.printf("  %s %s\n", c.Op, c.ID)
	}
}

// upAll brings up the functions of a file and then its chains, telling done of each.
func (a *app) upAll(ctx context.Context, f *api.File, o runs.UpOptions, done func(deployedItem)) error {
	h := a.host(ctx)
	for _, fn := range f.Functions {
		changes, err := a.upOne(ctx, h, fn.Metadata.Name, "function", o, func() ([]resource.Change, error) {
			return h.UpFunction(ctx, fn, o)
		})
		if err != nil {
			return err
		}
		done(itemOf(fn.Metadata.Name, "function", changes))
	}
	for _, chain := range f.Chains {
		changes, err := a.upOne(ctx, h, chain.Metadata.Name, "chain", o, func() ([]resource.Change, error) {
			_, changes, err := h.Up(ctx, chain, o)
			return changes, err
		})
		if err != nil {
			return err
		}
		done(itemOf(chain.Metadata.Name, "chain", changes))
	}
	return nil
}

// upOne brings one thing up under its lock and gives what changed. When it is
// interrupted or fails, what this command made anew is removed again.
func (a *app) upOne(ctx context.Context, h *runs.Host, name, kind string, o runs.UpOptions, up func() ([]resource.Change, error)) ([]resource.Change, error) {
	lock, err := h.Lock(ctx, name)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	before, err := deploy.Nodes(name)
	if err != nil {
		return nil, err
	}
	if err := h.CheckKind(name, kind); err != nil {
		return nil, err
	}
	changes, err := up()
	a.bar.clear()
	if err != nil {
		if len(before) == 0 && !o.DryRun {
			if _, down := h.Down(context.WithoutCancel(ctx), name); down != nil {
				return nil, fmt.Errorf("%w; and removing what was made failed: %w", err, down)
			}
		}
		return nil, err
	}
	return changes, nil
}
