package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/through"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/proof"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// job is one trial for a tool, over the chain that is measured.
func (m *Measurement) job(c trial.Condition) (traffic.Job, error) { return jobOver(m.up, c) }

// jobOver a chain that is up.
func jobOver(p *plan.Plan, c trial.Condition) (traffic.Job, error) {
	job := placeless(p, c)
	if p.Placement != nil {
		job.Memory = p.Placement.Memory
	}
	var err error
	job.Condition.Affinity, err = p.Placement.Affinity(c.Affinity)
	if err == nil {
		job.Site, err = site(p, c, job.Address)
	}
	if err != nil {
		return job, fmt.Errorf("%w: %w", err, ErrInput)
	}
	return job, nil
}

// placeless is a job whose tools run on the cores that its load says.
func placeless(p *plan.Plan, c trial.Condition) traffic.Job {
	client, server := p.Client(), p.Server()
	ends := traffic.Ends{ClientNetns: client.Namespace, ServerNetns: server.Namespace, ClientNode: client.Name, ServerNode: server.Name}
	if c.Path == trial.PathDirect {
		ends.Address = p.Direct.Server.Addresses[0]
		return traffic.Job{Ends: ends, SpareEast: p.Spare(false, spareAddresses), SpareWest: p.Spare(true, spareAddresses), Condition: c, FirstPort: FirstPort}
	}
	service := p.Reached()
	ends.Address, ends.Addresses = service.Addresses[0], service.Addresses
	ends.Server, ends.Bind = server.West.Addresses[0], boundTo(service)
	job := traffic.Job{Ends: ends, Condition: c, Held: held(p)}
	job.FirstPort, job.BindPort = ports(service)
	if p.Service == nil { // only the service's address is translated
		job.SpareEast, job.SpareWest = p.Spare(false, spareAddresses), p.Spare(true, spareAddresses)
	}
	return job
}

// spareAddresses of each IP version for loads to go to, as many as RFC 2544 §12 wants.
const spareAddresses = 256

// bringUp makes sure that the chain of the slot's condition is up, and no other of
// ours: the instance that the slot's repeat is to be on.
func (m *Measurement) bringUp(ctx context.Context, slot experiment.Slot, r *trial.Run) error {
	condition, made := slot.Condition, 0
	if r.Redeploy > 1 {
		made = (slot.Repeat - 1) / experiment.RepeatsEach(*r)
	}
	if m.up != nil && m.made == made && (m.upFor == condition || alike(m.Chains[m.upFor], m.Chains[condition])) {
		return nil
	}
	if err := m.remove(); err != nil {
		return err
	}
	direct := false
	for i, c := range r.Conditions {
		direct = direct || c.Path == trial.PathDirect && alike(m.Chains[i], m.Chains[condition])
	}
	if err := m.tellRepairs(ctx, condition, r); err != nil {
		return err
	}
	m.making = nil
	chain := m.Chains[condition]
	o := UpOptions{
		Options: plan.Options{Direct: direct, Runtimes: m.chosen(condition, r)}, Alone: m.Alone, Temporary: !m.Keep, Brought: m.Keep && BroughtUp(chain.Metadata.Name), Wait: true,
	}
	alone, err := m.startAlone(ctx, chain, o, r)
	if err != nil {
		return err
	}
	p, err := m.raise(ctx, chain, o, false, alone)
	// What was made before an error is removed too.
	m.up, m.upFor, m.proven, m.made = p, condition, map[string]bool{}, made
	m.instance = lastInstance(r) + 1
	if err != nil {
		return err
	}
	if err := m.noteSetup(ctx, condition, r); err != nil {
		return err
	}
	return m.tellFailing(ctx, r)
}

// tellFailing warns the reader of functions that have failed and did not come back, as where others take what was theirs.
func (m *Measurement) tellFailing(ctx context.Context, r *trial.Run) error {
	failing, err := untilWell(ctx, m.up.Chain)
	failing = slices.DeleteFunc(failing, func(text string) bool { return slices.Contains(r.Warnings, text) })
	if err != nil || len(failing) == 0 {
		return err
	}
	r.Warnings = append(r.Warnings, failing...)
	return m.Store.SetWarnings(context.WithoutCancel(ctx), r.ID, r.Warnings)
}

// lastInstance of the chain that the run has trials on.
func lastInstance(r *trial.Run) (last int) {
	for _, t := range r.Trials {
		last = max(last, t.Instance)
	}
	return last
}

// tellRepairs warns the reader when a chain that was up was not what it was
// declared to be: it is made whole before it is measured.
func (m *Measurement) tellRepairs(ctx context.Context, condition int, r *trial.Run) error {
	if !m.Keep {
		return nil
	}
	p, changes, err := m.Host.Up(ctx, m.Chains[condition], UpOptions{Options: plan.Options{Runtimes: m.chosen(condition, r)}, Alone: m.Alone, DryRun: true})
	if err == nil {
		err = refuseWaiting(m.Chains[condition], p, false)
	}
	if err != nil || len(changes) == 0 {
		return err
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("the chain was not as declared: %s made good before the first trial, such as %s (%s)",
		words.Plural(len(changes), "object"), changes[0].ID, changes[0].Op))
	return m.Store.SetWarnings(context.WithoutCancel(ctx), r.ID, r.Warnings)
}

// prove refuses to measure traffic that misses a function.
func (m *Measurement) prove(ctx context.Context, c trial.Condition, tool traffic.Tool) error {
	kind := transport(c.Protocol)
	if c.Path != trial.PathChain {
		return nil
	}
	for _, p := range append([]*plan.Plan{m.up}, m.active()...) {
		path, err := loadPath(p, c, tool)
		if err != nil {
			return err
		}
		key := kind + " " + p.Chain
		if path != nil {
			key += " " + path.Name
		}
		if m.proven[key] {
			continue
		}
		began := m.Now()
		if err := proven(ctx, p, kind, path); err != nil {
			return unmadeBy("the path could not be proven", because(err, p.Chain))
		}
		m.proof(p.Chain, m.Now().Sub(began))
		m.proven[key] = true
	}
	return nil
}

// proven shows that one chain's traffic takes its path, or the one of several that the load is to take.
func proven(ctx context.Context, p *plan.Plan, kind string, on *plan.Path) error {
	path := proof.Path{ClientNetns: p.Client().Namespace, ServerNetns: p.Server().Namespace, Protocol: kind, Delay: held(p)}
	path.To, path.At, path.Source = marked(p.Reached())
	path.Kept = p.OnMachine() && p.Service != nil
	if on != nil && p.Service != nil {
		path.Source = netip.Addr{} // the path may pass by what translates
	}
	nodes := p.On(on)
	for _, n := range nodes[1 : len(nodes)-1] {
		if n.Hook == through.XDP {
			continue // no socket sees what is a frame
		}
		f := proof.Function{Name: n.Function(), Netns: n.Namespace, West: n.West.Device, East: n.East.Device, Transparent: n.Transparent, Hands: n.Hook != "", OneWay: !p.Returns(n, on)}
		if last := len(path.Functions) - 1; n.Again() {
			path.Functions[last].Others = append(path.Functions[last].Others, f)
			continue
		}
		path.Functions = append(path.Functions, f)
	}
	if g := p.Graph(); !g.Line() && (on == nil || on.Branched) {
		path.Ways = waysOf(g)
		for i := range path.Functions {
			path.Functions[i].Aside = !g.Always(i + 1)
		}
	}
	before, err := between(p)
	if err != nil {
		return err
	}
	frames, err := framesThrough(p)
	if err != nil {
		return err
	}
	if _, err := proof.Check(ctx, path); err != nil {
		if ctx.Err() != nil {
			return deploy.Interrupted(ctx.Err())
		}
		return err
	}
	if err := met(p, on, path.Protocol, before); err != nil {
		return err
	}
	after, err := framesThrough(p)
	if err != nil {
		return err
	}
	return handedOn(p, on, path.Protocol, frames, after)
}

// waysOf a chain as the proof of path has them: without the client, whose place is 0.
func waysOf(g plan.Graph) *proof.Ways {
	less := func(places []int) (all []int) {
		for _, place := range places {
			all = append(all, place-1)
		}
		return all
	}
	w := &proof.Ways{First: less(g.Onward[0])}
	for _, to := range g.Onward[1 : len(g.Onward)-1] {
		w.Next = append(w.Next, less(to))
	}
	return w
}

// held is how long the chain's functions may hold a packet on purpose.
func held(p *plan.Plan) (longest time.Duration) {
	for _, n := range p.Functions() {
		if !n.Again() {
			longest += time.Duration(n.Delay())
		}
	}
	return longest
}

// remove takes down what bringUp made; a chain that was up before loses only the
// direct hop.
func (m *Measurement) remove() error {
	return errors.Join(m.dismiss(), m.removeChain())
}

func (m *Measurement) removeChain() error {
	if m.up == nil {
		return nil
	}
	chain, was := m.Chains[m.upFor], m.up.Runtimes
	m.up = nil
	ctx := context.Background()
	if m.Keep {
		_, _, err := m.Host.Up(ctx, chain, UpOptions{Options: plan.Options{Runtimes: was}, Alone: m.Alone})
		return err
	}
	_, err := m.Host.remove(ctx, chain.Metadata.Name)
	return err
}

// alike tells whether two things are the same in all that is stored of them.
func alike[T any](a, b T) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
