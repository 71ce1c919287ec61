package run

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/wiring"
)

// since is what is to be told of a plan since the chain is up as it was: which functions come to be others under their names.
type since struct {
	comes    []plan.Replacing
	warnings []string
}

func (s since) tell(p *plan.Plan) {
	p.Replaces, p.Warnings = s.comes, slices.Concat(p.Warnings, s.warnings)
}

// asReplaced is how a chain is made that may be up as another. What a bench makes for itself is changed where it is: nothing that it measures is beside
// something else.
func (h *Host) asReplaced(chain api.Chain, through []api.StandaloneFunction, o UpOptions) (plan.Options, since) {
	as := h.as(chain, o.Options)
	if !o.Temporary {
		return h.since(chain, through, as)
	}
	if kept, err := remembered(chain.Metadata.Name); err == nil {
		as.Instances = kept.Instances
	}
	return as, since{}
}

// since has functions that come to be others under their names put in beside what is there, by other instances, where a forwarder leads new flows
// to these.
func (h *Host) since(chain api.Chain, through []api.StandaloneFunction, o plan.Options) (plan.Options, since) {
	kept, err := remembered(chain.Metadata.Name)
	if err != nil {
		return o, since{}
	}
	o.Instances = kept.Instances
	was, err := h.Words.Decode(chain.Metadata.Name, kept.Document)
	if err != nil || len(was.Chains) == 0 {
		return o, since{}
	}
	before := was.Chains[0].Spec
	told := since{warnings: unnamedSince(before, chain.Spec)}
	if !h.steers(chain) || chain.Spec.Wiring != before.Wiring || len(kept.Instances) == 0 && !mayReplace(before, chain.Spec) {
		return o, told
	}
	facts, err := h.facts(chain, through, nil)
	if err != nil {
		return o, told // which the plan itself is refused for
	}
	instances, others := h.others(chain, facts, o)
	o.Instances = instances
	return o, since{others.comes, append(others.warnings, told.warnings...)}
}

// mayReplace tells whether any function may be another than it was: all that containers are made from is not in the chain's file.
func mayReplace(was, is api.ChainSpec) bool {
	if was.Runtime != is.Runtime {
		return true
	}
	return slices.ContainsFunc(is.Functions, func(f api.Function) bool {
		i := slices.IndexFunc(was.Functions, func(old api.Function) bool { return old.Name == f.Name })
		runtime := cmp.Or(f.Runtime, is.Runtime)
		return i >= 0 && (runtime == api.RuntimeAuto || api.IsEngine(runtime) || f.Encapsulation != was.Functions[i].Encapsulation || !reflect.DeepEqual(f.FunctionBody, was.Functions[i].FunctionBody))
	})
}

// others are the instances of a chain's functions, where some are others than those that are there, and what is to be told of these.
func (h *Host) others(chain api.Chain, facts plan.Facts, o plan.Options) (instances map[string]int, told since) {
	was, err := h.Made(chain.Metadata.Name)
	if err != nil {
		return o.Instances, told
	}
	is, err := h.settled(chain, facts, o)
	if err != nil {
		return o.Instances, told // which the plan itself is refused for
	}
	instances = map[string]int{}
	maps.Copy(instances, is.Instances)
	beside, inPlace := is.Replaced(was)
	for _, name := range slices.Sorted(maps.Keys(beside)) {
		number := next(chain.Metadata.Name, name, instances[name])
		instances[name] = number
		told.comes = append(told.comes, plan.Replacing{Function: name, Node: plan.InstanceOf(name, number), What: beside[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(inPlace)) {
		told.warnings = append(told.warnings, fmt.Sprintf("function %s %s where it is, so that packets are lost meanwhile; under another name it is put in beside what is there, and none is", name, inPlace[name]))
	}
	return instances, told
}

// settled is the plan of a chain in which no function has an instance that has no node of its own now.
func (h *Host) settled(chain api.Chain, facts plan.Facts, o plan.Options) (*plan.Plan, error) {
	p, err := plan.Make(chain, h.Catalogue, facts, o)
	if err != nil {
		return nil, err
	}
	instances := map[string]int{}
	for _, n := range p.Nodes {
		if n.Called != "" && n.Made && !n.Brought {
			instances[n.Called] = o.Instances[n.Called]
		}
	}
	if maps.Equal(instances, p.Instances) || len(instances) == len(p.Instances) {
		return p, nil
	}
	o.Instances = instances
	return plan.Make(chain, h.Catalogue, facts, o)
}

// next is the number of the instance of a function that comes after one, of which nothing is there.
func next(chain, name string, after int) int {
	there := func(number int) bool {
		is := plan.InstanceOf(name, number)
		return netns.Exists(namespace.Name(chain, is)) || netns.Exists(namespace.Name(chain, is+"-1"))
	}
	number := 1
	for number == max(after, 1) || there(number) {
		number++
	}
	return number
}

// unnamedSince warns of addresses that functions had connections by, and have no more.
func unnamedSince(was, is api.ChainSpec) (warnings []string) {
	for _, f := range is.Functions {
		i := slices.IndexFunc(was.Functions, func(old api.Function) bool { return old.Name == f.Name })
		if i >= 0 && f.Ref == "" && was.Functions[i].Ref == "" {
			warnings = append(warnings, unnamed(was.Functions[i], f)...)
		}
	}
	return warnings
}

// unnamed warns of addresses that a function had connections by, and has no more.
func unnamed(old, f api.Function) []string {
	before, was := old.Options.(function.Addressed)
	now, is := f.Options.(function.Addressed)
	if !was || !is {
		return nil
	}
	var gone []string
	for _, a := range before.Named() {
		if !slices.Contains(now.Named(), a) {
			gone = append(gone, a.String())
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("function %s no longer has %s: connections that it gave that address, or that were sent there, end", f.Name, strings.Join(gone, " and "))}
}

// steers tells whether a chain's wiring sends packets on by itself.
func (h *Host) steers(chain api.Chain) bool {
	_, is := h.Catalogue.Wirings[chain.Spec.Wiring].(wiring.Steered)
	return is
}
