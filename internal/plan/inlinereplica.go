package plan

import (
	"cmp"
	"fmt"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// behind which function, and on which way of packets, passes are.
type behind struct {
	function string
	way      int
}

// passBehind notes the pass at the port of a node, if that has replicas: packets of a hop come by the port of one of these,
// and a pass is to be one for all.
func (b *builder) passBehind(n Node, way int, id string) {
	if n.Replica == nil {
		return
	}
	if b.behind == nil {
		b.behind = map[behind][]string{}
	}
	if at := (behind{n.Function(), way}); !slices.Contains(b.behind[at], id) {
		b.behind[at] = append(b.behind[at], id)
	}
}

// translatesBeside refuses to have addresses translated on a hop to or from replicas: the ports there know flows by addresses,
// and each way would have others.
func (b *builder) translatesBeside(hop int, all []*Inline) error {
	for _, f := range all {
		for _, n := range []Node{b.nodes[f.hop], b.nodes[f.hop+1], b.nodes[hop+1], b.nodes[b.back(hop+1)]} {
			if f.steps.NAT != nil && n.Replica != nil {
				return fmt.Errorf("function %s translates addresses and is inline beside %s, of whose replicas each is to have both ways of a flow, which has other addresses on either; give it runtime: %s, or put a function between",
					f.Name, n.Function(), api.RuntimeNetns)
			}
		}
	}
	return nil
}

// around a function are the nearest ones either way that are not past, and those up to there: those on whose hop it is, if past
// those that are past it comes to them. Answers come past those that they do not visit.
func (b *builder) around(at int, past func(api.Function) bool) (all []api.Function) {
	functions := b.chain.Spec.Functions
	for _, step := range []int{-1, 1} {
		for i := at + step; i >= 0 && i < len(functions); i += step {
			all = append(all, functions[i])
			if !past(functions[i]) && !b.chain.Spec.OneWay(functions[i]) {
				break
			}
		}
	}
	return all
}

// mayBeInline tells whether a function is inline, or may turn out to be where that is left to the plan and not settled yet: those
// behind another are settled after it.
func (b *builder) mayBeInline(f api.Function) bool {
	runtime := cmp.Or(f.Runtime, b.chain.Spec.Runtime)
	if f.Ref != "" || runtime != api.RuntimeInline && runtime != api.RuntimeAuto || f.InContainer(runtime) {
		return false
	}
	if is := cmp.Or(b.runtimes[f.Name], b.options.Runtimes[f.Name]); runtime == api.RuntimeAuto && is != "" {
		return is == api.RuntimeInline
	}
	_, err := b.stepsOf(f)
	return err == nil
}

// joinPasses has the passes at the ports of one function's replicas be one.
func (b *builder) joinPasses() {
	for _, ids := range b.behind {
		var devices []string
		for _, id := range ids {
			devices = append(devices, b.resource(id).Spec.(pass.Spec).Device)
		}
		for i, id := range ids {
			r := b.resource(id)
			s := r.Spec.(pass.Spec)
			s.Beside = slices.Delete(slices.Clone(devices), i, i+1)
			r.Spec = s
		}
		for i := range b.inline {
			for _, at := range []*Taken{b.inline[i].Forward, b.inline[i].Reverse} {
				if at != nil && at.Pass == ids[0] {
					at.Beside = ids[1:]
				}
			}
		}
	}
}

// resource of an ID, which there is.
func (b *builder) resource(id string) *resource.Resource {
	return &b.resources[slices.IndexFunc(b.resources, func(r resource.Resource) bool { return r.ID == id })]
}
