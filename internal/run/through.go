package run

import (
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/through"
	"nfchain.dev/nfchain/internal/traffic/proof"
)

// ThroughState is what came in at one interface of a node and was handed on to the other.
type ThroughState struct {
	Interface string `json:"interface"`
	To        string `json:"to"`
	// Direction is forward or reverse.
	Direction string `json:"direction"`
	Tally
}

// throughOf a node, forward and reverse. What is not there is told as missing.
func throughOf(p *plan.Plan, n plan.Node, at resource.Place) (all []ThroughState, err error) {
	for _, r := range p.Resources {
		spec, is := r.Spec.(through.Spec)
		if !is || r.Namespace != n.Namespace {
			continue
		}
		c, found, err := through.CountAt(at, spec.Device)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		way := api.Forward
		if spec.Device == n.East.Device {
			way = api.Reverse
		}
		all = append(all, ThroughState{Interface: spec.Device, To: spec.To, Direction: string(way), Tally: Tally(c)})
	}
	return all, nil
}

// framesThrough nodes that take packets in the driver, forward and reverse, by node.
func framesThrough(p *plan.Plan) (map[string][2]uint64, error) {
	all := map[string][2]uint64{}
	for _, n := range p.Functions() {
		if n.Hook != through.XDP {
			continue
		}
		h, err := netns.Open(n.Namespace)
		if err != nil {
			return nil, err
		}
		counted, err := throughOf(p, n, resource.At(h, p.Chain))
		h.Close()
		if err != nil {
			return nil, err
		}
		ways := [2]uint64{}
		for _, c := range counted {
			if c.Direction == string(api.Reverse) {
				ways[1] = c.Packets
				continue
			}
			ways[0] = c.Packets
		}
		all[n.Name] = ways
	}
	return all, nil
}

// handedOn is an error of type *[proof.Error] unless each node that takes packets in the driver
// handed on at least as many, since they were read before, as the proof of path sends each way.
func handedOn(p *plan.Plan, on *plan.Path, protocol string, before, after map[string][2]uint64) error {
	fail := &proof.Error{Protocol: protocol, Sent: proof.Rounds}
	var names []string
	for _, n := range p.Functions() {
		was, is := before[n.Name], after[n.Name]
		if on != nil && !on.Has(n.Name) || n.Hook != through.XDP || is[0] >= was[0]+proof.Rounds && is[1] >= was[1]+proof.Rounds {
			continue
		}
		names = append(names, n.Name)
		fail.Missed = append(fail.Missed, proof.Seen{Function: n.Name, Forward: int(min(is[0]-min(is[0], was[0]), proof.Rounds)), Reverse: int(min(is[1]-min(is[1], was[1]), proof.Rounds))})
	}
	if len(names) == 0 {
		return nil
	}
	fail.Reason = "traffic does not pass " + strings.Join(names, ", ")
	return fail
}
