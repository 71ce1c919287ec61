package plan

import (
	"slices"

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
		if f.steps.NAT == nil || f.Stop {
			continue
		}
		for _, n := range []Node{b.nodes[f.hop], b.nodes[f.hop+1], b.nodes[hop+1], b.nodes[b.back(hop+1)]} {
			if n.Replica != nil {
				return b.astray(f)
			}
		}
	}
	return nil
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
