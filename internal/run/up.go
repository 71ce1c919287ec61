package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/macvlan"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// UpOptions of bringing a chain up.
type UpOptions struct {
	plan.Options
	Alone     []api.StandaloneFunction
	Temporary bool
	// Brought has the chain go with the last container that another runtime puts into it.
	Brought bool
	// Wait until every function is ready.
	Wait bool
	// Move flows at once that would stay on an older version of the path.
	Move   bool
	DryRun bool

	// Flows is told what became of flows that were on an older version of the path; it may be nil.
	Flows *Flows
	// watch is told when each phase ends; it may be nil.
	watch *stopwatch
}

// Flows are how many were moved to the newest version of a path at once, and how many stay on older ones until
// they are idle, when what only they go by is removed. AtOnce says why those that are under way go the newest at once, though they were to
// stay, and nobody knows how many; "" where none do. Left are those that replicas which are taken out are left until they are idle.
type Flows struct {
	Moved, Staying, Left int
	AtOnce               string
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

// raise makes a chain, at addresses and on CPUs that no other takes meanwhile: others wait until it has chosen, or, where it takes what they may
// take too, until it has that; and never until its images are there.
func (h *Host) raise(ctx context.Context, chain api.Chain, o UpOptions) (*plan.Plan, []resource.Change, error) {
	if !o.DryRun {
		changing, err := h.changing(ctx, chain.Metadata.Name)
		if err != nil {
			return nil, nil, err
		}
		defer changing.Release()
	}
	d := h.deployer(o)
	choosing, err := h.choose(ctx, chain, o)
	if err == nil && choosing.holds && contained(choosing.plan) && !o.DryRun {
		choosing.free() // what it waits for takes nothing
		if err := d.Fetch(ctx, choosing.plan); err != nil {
			return choosing.plan, nil, err
		}
		choosing, err = h.choose(ctx, chain, o)
	}
	if err != nil {
		return choosing.plan, nil, err
	}
	p, through, free := choosing.plan, choosing.through, choosing.free
	d.Coming = choosing.coming
	defer free()
	o.watch.lap()
	kept := Remembered{Temporary: o.Temporary, Brought: o.Brought, Direct: o.Temporary && o.Direct, Images: p.Images(), Files: p.Files(), Runtimes: p.Runtimes, Instances: p.Instances, CPUs: p.ChosenOf()}
	if !o.DryRun {
		if err := errors.Join(remember(chain.Metadata.Name, chain, through, kept), claim(p)); err != nil {
			return p, nil, err
		}
		coming, err := deploy.Reserve(ctx, p)
		if err != nil {
			return p, nil, err
		}
		defer coming.Release()
	}
	if !choosing.holds {
		free()
	}
	d.Made = func() error {
		defer free() // all that it takes is seen to be taken
		if o.DryRun {
			return nil
		}
		return deploy.Note(p)
	}
	changes, err := h.deploy(ctx, d, p, o)
	if err == nil && !o.DryRun && p.Foreign() {
		p, err = h.asAttached(chain, through, kept, o.Options)
	}
	if err == nil && !o.DryRun {
		kept.Direct = o.Direct
		err = errors.Join(settle(p, chain, through, kept), deploy.Give(p, p.Claim()))
	}
	o.watch.lap()
	return p, changes, err
}

// choosing is a chain that is planned, of which no other process chooses or takes anything until it is freed.
type choosing struct {
	plan    *plan.Plan
	through []api.StandaloneFunction
	// holds tells that it takes what others may take too, so that they wait until it has that.
	holds bool
	// coming are its nodes that no packet went to before.
	coming map[string]bool
	free   func()
}

// choose what a chain is to be, which this machine can carry out. Where there is an error nobody waits any more.
func (h *Host) choose(ctx context.Context, chain api.Chain, o UpOptions) (c choosing, err error) {
	addresses, err := h.lockAddresses(ctx)
	if err != nil {
		return c, err
	}
	c.free = sync.OnceFunc(addresses.Release)
	defer func() {
		if err != nil {
			c.free()
		}
	}()
	o.watch.begin()
	if c.through, err = h.through(chain, o.Alone, nil); err != nil {
		return c, err
	}
	options, since := h.asReplaced(chain, c.through, o)
	p, err := h.planThrough(chain, c.through, nil, options)
	if err == nil {
		since.tell(p)
		c.coming = since.coming(p)
	}
	if err == nil && o.Temporary {
		err = refuseWaiting(chain, nil, true)
	}
	if err != nil {
		return c, err
	}
	c.plan, c.holds = p, !h.apart(chain) || overHost(p)
	return c, h.check(p, chain)
}

// apart tells whether a chain takes nothing that others may take too but addresses and CPUs: no interface that becomes its own, no
// namespace or setting of this machine's, function of several chains, place that other runtimes bring containers to, or network of others.
func (h *Host) apart(chain api.Chain) bool {
	return !h.Catalogue.Attaching(chain.Spec.Wiring) && len(chain.Spec.Brought()) == 0 && chain.Spec.Tuning.Host == "" &&
		!slices.ContainsFunc(chain.Spec.Endpoints, func(e api.Endpoint) bool { return e.Interface != "" || e.Namespace != "" }) &&
		!slices.ContainsFunc(chain.Spec.Functions, func(f api.Function) bool { return f.Ref != "" })
}

// overHost tells whether a plan has devices over an interface of the host's, which an endpoint of another chain may take into its
// namespace until they are there.
func overHost(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Resources, func(r resource.Resource) bool {
		s, is := r.Spec.(macvlan.Spec)
		return is && s.Parent.OfHost()
	})
}

// claim the CPUs of a plan for its owner, besides those that it has: what it has there is moved later.
func claim(p *plan.Plan) error {
	had, err := deploy.Given(p.Chain)
	if err != nil {
		return err
	}
	return deploy.Give(p, had.With(p.Claim()))
}

// claimFunction claims those that a standalone function's file names.
func (h *Host) claimFunction(ctx context.Context, p *plan.Plan, dry bool) error {
	if p.Claim().Empty() {
		if dry {
			return nil
		}
		return deploy.Give(p, p.Claim())
	}
	choosing, err := h.lockAddresses(ctx)
	if err != nil {
		return err
	}
	defer choosing.Release()
	others, err := deploy.GivenOthers(p.Chain)
	if err != nil {
		return err
	}
	if err := others.Clashing(p); err != nil || dry {
		return err
	}
	return deploy.Give(p, p.Claim())
}

// UpFunction makes a standalone function what it should be. The caller holds its
// lock.
func (h *Host) UpFunction(ctx context.Context, f api.StandaloneFunction, o UpOptions) ([]resource.Change, error) {
	p, err := h.PlanFunction(f)
	if err != nil {
		return nil, err
	}
	if err := h.Features.Missing(p.Requires...); err != nil {
		return nil, err
	}
	if err := h.claimFunction(ctx, p, o.DryRun); err != nil {
		return nil, err
	}
	if !o.DryRun {
		if err := remember(f.Metadata.Name, f, nil, Remembered{Temporary: o.Temporary}); err != nil {
			return nil, err
		}
	}
	changes, err := h.deploy(ctx, h.deployer(o), p, o)
	if err == nil {
		err = h.wait(ctx, p, o)
	}
	return changes, err
}

func (h *Host) deployer(o UpOptions) *deploy.Deployer {
	return &deploy.Deployer{Progress: h.Progress, Doing: h.Doing, DryRun: o.DryRun, Move: o.Move || o.Temporary, Contained: o.watch.contain}
}

func (h *Host) deploy(ctx context.Context, d *deploy.Deployer, p *plan.Plan, o UpOptions) ([]resource.Change, error) {
	changes, err := d.Up(ctx, p)
	if err == nil && o.Flows != nil {
		*o.Flows = Flows{AtOnce: d.AtOnce, Left: d.Left}
	}
	if err != nil || o.DryRun {
		return changes, err
	}
	if o.Flows != nil {
		o.Flows.Moved, o.Flows.Staying = d.Moved, d.Staying
	}
	if !d.Remains() {
		return changes, nil
	}
	return changes, process.Drain(p.Chain)
}

// wait until what was made is ready, if that was asked for.
func (h *Host) wait(ctx context.Context, p *plan.Plan, o UpOptions) error {
	if !o.Wait || o.DryRun {
		return nil
	}
	programs, err := h.waitReady(ctx, p)
	if err == nil {
		o.watch.ready(programs)
		err = programsPlaced(ctx, p)
	}
	if err == nil {
		err = waitCarrier(ctx, p)
	}
	if err != nil && ctx.Err() == nil {
		return unready{err}
	}
	return err
}

// unready is why what is up whole is not ready.
type unready struct{ error }

func (u unready) Unwrap() error { return u.error }

// Unready tells of an error of Up with Wait that all was made, and only did not become ready: without Wait there is none.
func Unready(err error) bool { return errors.As(err, new(unready)) }

// Drain has what is left of older versions of a chain's path removed, when no flow goes by them, and replicas that are taken out, when they have
// none. Where the chain is not as its file says, nothing is done: that is left to who edits it.
func (h *Host) Drain(ctx context.Context, name string) error {
	lock, err := h.Lock(ctx, name)
	if err != nil {
		return err
	}
	defer lock.Release()
	p, err := h.Made(name)
	if err != nil {
		return err
	}
	changes, err := drift(ctx, p)
	if err != nil {
		return err
	}
	if d := total(changes); d.State() == StatePartial || len(d.Differs) > 0 {
		return fmt.Errorf("chain %s is not as its file says; `nfchain up FILE` makes it so", name)
	}
	changing, err := h.changing(ctx, name)
	if err != nil {
		return err
	}
	defer changing.Release()
	_, err = (&deploy.Deployer{}).Up(ctx, p)
	return err
}

// Leaving is what replicas of a chain that are taken out are left; nil where there are none.
func (h *Host) Leaving(name string) (left *steer.Leaving, err error) {
	p, err := h.Made(name)
	if err != nil || !netns.Exists(p.Between()) {
		return nil, err
	}
	forwarder, err := netns.Open(p.Between())
	if err != nil {
		return nil, err
	}
	defer forwarder.Close()
	return deploy.LeftTo(resource.At(forwarder, name), p)
}

// Restore what a chain has lost, as containers that ended with their network, so that it is as it was when all of it was last there: an
// edit that failed since counts for nothing. Whoever has the chain's lock meanwhile does not change it. What keeps a container from being
// started again keeps nothing else from it, and is told by the container's name.
func (h *Host) Restore(ctx context.Context, name string) (lacking map[string]error, err error) {
	changing, err := h.changing(ctx, name)
	if err != nil {
		return nil, err
	}
	defer changing.Release()
	p, err := h.Settled(name)
	if err != nil {
		return nil, err
	}
	d := &deploy.Deployer{Restoring: true}
	if _, err := d.Up(ctx, p); err != nil || !d.Remains() {
		return d.Lacking, err
	}
	return d.Lacking, process.Drain(p.Chain)
}

// Down removes a chain or standalone function. The caller holds its lock.
func (h *Host) Down(ctx context.Context, name string) (int, error) {
	if err := unused(name); err != nil {
		return 0, err
	}
	return h.remove(ctx, name)
}

// remove a chain or standalone function, when nothing of it is being brought back any more: that ends with the supervisor.
func (h *Host) remove(ctx context.Context, name string) (int, error) {
	if err := process.Stop(name); err != nil {
		return 0, err
	}
	changing, err := h.changing(ctx, name)
	if err != nil {
		return 0, err
	}
	defer changing.Release()
	return (&deploy.Deployer{Progress: h.Progress}).Down(ctx, name)
}
