package run

import (
	"context"
	"sync"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
)

// UpOptions of bringing a chain up.
type UpOptions struct {
	plan.Options
	Alone     []api.StandaloneFunction
	Temporary bool
	// Wait until every function is ready.
	Wait   bool
	DryRun bool

	// watch is told when each phase ends; it may be nil.
	watch *stopwatch
}

// Up makes a chain what it should be. The caller holds its lock.
func (h *Host) Up(ctx context.Context, chain api.Chain, o UpOptions) (*plan.Plan, []resource.Change, error) {
	p, changes, err := h.raise(ctx, chain, o)
	if err == nil {
		err = h.wait(ctx, p, o)
	}
	o.watch.lap()
	return p, changes, err
}

// raise makes a chain, at addresses that no other takes meanwhile.
func (h *Host) raise(ctx context.Context, chain api.Chain, o UpOptions) (*plan.Plan, []resource.Change, error) {
	addresses, err := h.Lock(ctx, addressLock)
	if err != nil {
		return nil, nil, err
	}
	free := sync.OnceFunc(addresses.Release)
	defer free()
	o.watch.lap()
	through, err := h.through(chain, o.Alone, nil)
	if err != nil {
		return nil, nil, err
	}
	p, err := h.planThrough(chain, through, o.Options)
	if err != nil {
		return nil, nil, err
	}
	if err := h.check(p, chain); err != nil {
		return p, nil, err
	}
	o.watch.lap()
	if !o.DryRun {
		if err := remember(chain.Metadata.Name, chain, through, Remembered{Temporary: o.Temporary, Direct: o.Temporary && o.Direct}); err != nil {
			return p, nil, err
		}
	}
	d := &deploy.Deployer{Progress: h.Progress, DryRun: o.DryRun, Made: func() error {
		defer free() // the addresses are seen to be taken
		if o.DryRun {
			return nil
		}
		return deploy.Note(p)
	}}
	changes, err := d.Up(ctx, p)
	o.watch.lap()
	return p, changes, err
}

// UpFunction makes a standalone function what it should be. The caller holds its
// lock.
func (h *Host) UpFunction(ctx context.Context, f api.StandaloneFunction, o UpOptions) ([]resource.Change, error) {
	p, err := plan.MakeFunction(f, h.Catalogue, h.Features.Has)
	if err != nil {
		return nil, err
	}
	if err := h.Features.Missing(p.Requires...); err != nil {
		return nil, err
	}
	if !o.DryRun {
		if err := remember(f.Metadata.Name, f, nil, Remembered{Temporary: o.Temporary}); err != nil {
			return nil, err
		}
	}
	d := &deploy.Deployer{Progress: h.Progress, DryRun: o.DryRun}
	changes, err := d.Up(ctx, p)
	if err == nil {
		err = h.wait(ctx, p, o)
	}
	return changes, err
}

// wait until what was made is ready, if that was asked for.
func (h *Host) wait(ctx context.Context, p *plan.Plan, o UpOptions) error {
	if !o.Wait || o.DryRun {
		return nil
	}
	if err := h.waitReady(ctx, p); err != nil {
		return err
	}
	if err := programsPlaced(p); err != nil {
		return err
	}
	return waitCarrier(ctx, p)
}

// Down removes a chain or standalone function. The caller holds its lock.
func (h *Host) Down(ctx context.Context, name string) (int, error) {
	if err := unused(name); err != nil {
		return 0, err
	}
	d := &deploy.Deployer{Progress: h.Progress}
	return d.Down(ctx, name)
}
