package run

import (
	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/through"
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
