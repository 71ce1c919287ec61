package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// Plan makes the plan of a chain with what this machine is now. Functions that
// stand alone are looked for in alone and then among those that are up.
func (h *Host) Plan(chain api.Chain, alone []api.StandaloneFunction, o plan.Options) (*plan.Plan, error) {
	if err := h.planFunctions(alone); err != nil {
		return nil, err
	}
	through, err := h.through(chain, alone, nil)
	if err != nil {
		return nil, err
	}
	o, others := h.since(chain, through, h.as(chain, o))
	p, err := h.planThrough(chain, through, nil, o)
	if err == nil {
		others.tell(p)
	}
	return p, err
}

// Vacant is an error where somebody else has a port of this machine's at which a plan publishes a container. An engine that is not there
// tells of none.
func (h *Host) Vacant(p *plan.Plan) error {
	err := deploy.Vacant(p)
	if err == nil || errors.Is(err, engine.ErrNotThere) {
		return nil
	}
	return feature.Lacking(fmt.Errorf("chain %s: %w: %w", p.Chain, err, ErrInput))
}

// as a chain was made that is up, and its file says the same: on CPUs that are chosen of the same, whatever this process runs on now. Where some of
// these are kept from it, or are no more, they are chosen anew.
func (h *Host) as(chain api.Chain, o plan.Options) plan.Options {
	was, err := remembered(chain.Metadata.Name)
	if err != nil || len(o.CPUs) > 0 || !alike[any](was.Document, chain) {
		return o
	}
	may := h.Features.NameableCPUs()
	if may == nil || !slices.ContainsFunc(was.CPUs, func(cpu int) bool { return !slices.Contains(may, cpu) }) {
		o.CPUs = was.CPUs
	}
	return o
}

// PlanAll plans chains as they would be were one made after the other: each keeps clear of
// the addresses of those before it, unless they are another tenant's, and of their CPUs.
func (h *Host) PlanAll(chains []api.Chain, alone []api.StandaloneFunction, o plan.Options) ([]*plan.Plan, error) {
	if err := h.planFunctions(alone); err != nil {
		return nil, err
	}
	var all []*plan.Plan
	for _, chain := range chains {
		through, err := h.through(chain, alone, nil)
		if err != nil {
			return nil, err
		}
		facts, err := h.facts(chain, through, nil)
		if err != nil {
			return nil, err
		}
		if err := h.addOthers(chain, &facts); err != nil {
			return nil, err
		}
		for j, before := range all {
			meet(&facts, chains[j], before)
		}
		o, others := h.since(chain, through, h.as(chain, o))
		p, err := h.make(chain, facts, o)
		if err != nil {
			return nil, err
		}
		others.tell(p)
		all = append(all, p)
	}
	return all, nil
}

// meet adds to the facts what they would be with another chain as planned.
func meet(f *plan.Facts, other api.Chain, p *plan.Plan) {
	f.Blocks[p.Chain] = p.Blocks
	f.Claims[p.Chain] = p.Claim()
	delete(f.Tenants, p.Chain)
	if other.Spec.Tenant != "" {
		f.Tenants[p.Chain] = other.Spec.Tenant
	}
	for _, fn := range other.Spec.Functions {
		if guests, both := f.Guests[fn.Ref]; both && !slices.Contains(guests, p.Chain) {
			f.Guests[fn.Ref] = append(guests, p.Chain)
		}
	}
}

// Made is the plan of a chain or standalone function, by its name, as it was last
// made. A function that is gone counts as it was then.
func (h *Host) Made(name string) (*plan.Plan, error) {
	file, err := h.recall(name)
	if err != nil {
		return nil, err
	}
	r, err := remembered(name)
	if err != nil {
		return nil, err
	}
	return h.planned(file, r)
}

// Settled is the plan of a chain by its name as it was when all of it was last there, or else as it was first to be.
func (h *Host) Settled(name string) (*plan.Plan, error) {
	text, err := deploy.RecallSettled(name)
	if err != nil {
		return nil, err
	}
	var r Remembered
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	file, err := h.Words.Decode(name, r.Document)
	if err != nil {
		return nil, err
	}
	return h.planned(file, r)
}

// planned is the plan of what is remembered.
func (h *Host) planned(file *api.File, r Remembered) (*plan.Plan, error) {
	if len(file.Functions) > 0 {
		return h.planFunction(file.Functions[0], nil)
	}
	through, err := h.through(file.Chains[0], nil, h.functionsOf(r))
	if err != nil {
		return nil, err
	}
	return h.planThrough(file.Chains[0], through, &r, plan.Options{Direct: r.Direct, Runtimes: r.Runtimes, Instances: r.Instances, CPUs: r.CPUs})
}

// PlanFunction is the plan of a standalone function on this machine.
func (h *Host) PlanFunction(f api.StandaloneFunction) (*plan.Plan, error) {
	return h.planFunction(f, h.Features.NameableCPUs())
}

// planFunction plans one whose file may name these CPUs; nil is any.
func (h *Host) planFunction(f api.StandaloneFunction, nameable []int) (*plan.Plan, error) {
	p, err := plan.MakeFunction(f, h.Catalogue, plan.Facts{Has: h.Features.Has, Nameable: nameable})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrInput)
	}
	return p, nil
}

// planFunctions refuses those that stand beside a chain in its file and cannot be made here, as `up` would.
func (h *Host) planFunctions(alone []api.StandaloneFunction) error {
	for _, f := range alone {
		if _, err := h.PlanFunction(f); err != nil {
			return err
		}
	}
	return nil
}

// planThrough makes the plan of a chain, with images and files of this machine's as they are remembered, or, where nothing
// is, as they are now.
func (h *Host) planThrough(chain api.Chain, through []api.StandaloneFunction, r *Remembered, o plan.Options) (*plan.Plan, error) {
	facts, err := h.facts(chain, through, r)
	if err != nil {
		return nil, err
	}
	if own := facts.Blocks[chain.Metadata.Name]; len(own) > 0 {
		if p, err := h.make(chain, facts, o); err == nil && p.Stays(own, facts.Claims[chain.Metadata.Name]) {
			return p, nil
		}
	}
	if err := h.addOthers(chain, &facts); err != nil {
		return nil, err
	}
	return h.make(chain, facts, o)
}

// facts of this machine that a plan of the chain needs, but for what it must know of other chains.
func (h *Host) facts(chain api.Chain, through []api.StandaloneFunction, r *Remembered) (plan.Facts, error) {
	facts, err := deploy.OwnFacts(chain)
	if errors.Is(err, adopted.ErrNotFound) {
		return facts, fmt.Errorf("%w: %w", err, ErrInput)
	}
	if err != nil {
		return facts, err
	}
	facts.Has, facts.CPUs = h.Features.Has, h.Features.AllowedCPUs()
	if r == nil { // what is remembered was made, though this process may be given less
		facts.Nameable = h.Features.NameableCPUs()
	}
	facts.MemoryNodes = h.Features.MemoryNodes()
	if size, reserved, told := h.Features.ReservedHugepages(); told {
		facts.Hugepages = &plan.Hugepages{PageBytes: size, Reserved: reserved, Pools: h.Features.HugepagePools()}
	}
	if facts.Images, err = h.imagesOf(chain, r.images()); err != nil {
		return facts, err
	}
	if facts.Files, err = h.filesOf(chain, r); err != nil {
		return facts, err
	}
	if h.Catalogue.Attaching(chain.Spec.Wiring) {
		if facts.Attached, err = deploy.Attached(chain, h.Catalogue.OnMachine(chain.Spec)); err != nil {
			return facts, err
		}
		facts.Driver = h.driverOf(chain)
	}
	facts.Functions = map[string]api.FunctionBody{}
	for _, f := range through {
		facts.Functions[f.Metadata.Name] = f.Spec
	}
	return facts, nil
}

// addOthers adds what a plan must know of other chains, unless it [plan.Plan.Stays].
func (h *Host) addOthers(chain api.Chain, f *plan.Facts) error {
	if err := deploy.AddOthers(chain, f); err != nil {
		return err
	}
	return h.tenants(chain, f)
}

// make the plan of a chain.
func (h *Host) make(chain api.Chain, facts plan.Facts, o plan.Options) (*plan.Plan, error) {
	p, err := plan.Make(chain, h.Catalogue, facts, o)
	if err != nil { // a plan asks nobody but the file and the facts
		return nil, fmt.Errorf("%w: %w", err, ErrInput)
	}
	return p, nil
}

// through are the standalone functions that a chain refers to: from a file, else
// those that are up, else as they once were.
func (h *Host) through(chain api.Chain, alone, once []api.StandaloneFunction) ([]api.StandaloneFunction, error) {
	var all []api.StandaloneFunction
	for _, f := range chain.Spec.Functions {
		if f.Ref == "" {
			continue
		}
		found, ok := named(f.Ref, alone)
		if !ok {
			found, ok = h.standalone(f.Ref)
		}
		if !ok {
			found, ok = named(f.Ref, once)
		}
		if !ok {
			return nil, fmt.Errorf("function %s refers to %s, which is not there; `nfchain up` it first or put it into the same file: %w", f.Name, f.Ref, ErrInput)
		}
		all = append(all, found)
	}
	return all, nil
}

func named(name string, among []api.StandaloneFunction) (api.StandaloneFunction, bool) {
	for _, f := range among {
		if f.Metadata.Name == name {
			return f, true
		}
	}
	return api.StandaloneFunction{}, false
}

// standalone is a function that is up.
func (h *Host) standalone(name string) (api.StandaloneFunction, bool) {
	if !netns.Exists(namespace.Alone(name)) {
		return api.StandaloneFunction{}, false
	}
	file, err := h.Recall(name)
	if err != nil || len(file.Functions) == 0 {
		return api.StandaloneFunction{}, false
	}
	return file.Functions[0], true
}

// check refuses a plan that this machine cannot carry out, before anything is
// made.
func (h *Host) check(p *plan.Plan, chain api.Chain) error {
	if err := h.Features.Missing(p.Requires...); err != nil {
		return err
	}
	if err := deploy.Possible(p); err != nil {
		return feature.Lacking(fmt.Errorf("chain %s: %w: %w", p.Chain, err, ErrInput))
	}
	for _, e := range chain.Spec.Endpoints {
		if e.Namespace != "" && !netns.Exists(e.Namespace) {
			return fmt.Errorf("endpoint %s: there is no network namespace %q; `ip netns list` shows those there are: %w", e.Name, e.Namespace, ErrInput)
		}
	}
	return nil
}
