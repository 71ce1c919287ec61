package run

import (
	"slices"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// BranchState is what is known of flows where ways part and come together.
type BranchState struct {
	// Flows that are known at the nodes where ways come together, each at each of them.
	Flows int `json:"flows"`
	// New is how many flows became known, and Moved how many came another way than before, since the
	// ports are there.
	New   uint64 `json:"new_flows"`
	Moved uint64 `json:"moved_flows"`
	// Unknown packets went the planned way because their label or their flow was not known, and
	// Unkept ones were of flows for which there was no room among those that are known.
	Unknown uint64 `json:"unknown_packets"`
	Unkept  uint64 `json:"unkept_packets"`
}

// partedOf a chain is what its ports tell where ways part; nil where they do not, or are not there.
func partedOf(p *plan.Plan) (*steer.Parted, error) {
	var ways []steer.Spec
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Branch != nil {
			ways = append(ways, s)
		}
	}
	if len(ways) == 0 || !netns.Exists(p.Between()) {
		return nil, nil
	}
	h, err := netns.Open(p.Between())
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return steer.PartedAt(resource.At(h, p.Chain), ways)
}

// branchesOf a chain, by what its ports tell.
func branchesOf(parted *steer.Parted) *BranchState {
	if parted == nil {
		return nil
	}
	s := &BranchState{New: parted.New, Moved: parted.Moved, Unkept: parted.Unkept}
	for _, from := range parted.Known {
		for _, flows := range from {
			s.Flows += flows
		}
	}
	for _, packets := range parted.Strange {
		s.Unknown += packets
	}
	return s
}

// apart are the ways that what came in at a port went on by; the hop itself where there is one.
func (h HopState) apart(s steer.Spec, p *plan.Plan, parted *steer.Parted) []HopState {
	if s.Branch == nil {
		return []HopState{h}
	}
	ways := make([]HopState, len(s.Branch.Ways))
	if parted == nil {
		parted = &steer.Parted{}
	}
	aside, ended := parted.Aside[s.Device], parted.Ended[s.Device]
	for _, c := range ended {
		h.Ended -= min(h.Ended, c.Packets) // what is left ended while the port had one way
	}
	for node, c := range aside { // what is left went the planned way
		if node == s.Branch.Ways[0].Number {
			continue // once that was another
		}
		h = h.without(c)
	}
	for i, w := range s.Branch.Ways {
		ways[i] = HopState{From: h.From, To: w.Node, Packets: aside[w.Number].Packets, Bytes: aside[w.Number].Bytes}
		if i == 0 {
			ways[0] = h
			ways[0].Unknown = parted.Strange[s.Device]
		}
		ways[i].Ended += ended[w.Number].Packets
		ways[i].LedPast = parted.Past[s.Device][w.Number].Packets
		if s.Branch.Back {
			ways[i].Flows = parted.Known[s.Branch.Number][w.Number]
			continue
		}
		from := slices.IndexFunc(p.Nodes, func(n plan.Node) bool { return n.Name == h.From })
		ways[i].Marks = p.Nodes[from].Marked(w.Node)
	}
	return ways
}

// without what is counted elsewhere.
func (h HopState) without(c steer.Counts) HopState {
	h.Packets, h.Bytes = h.Packets-min(h.Packets, c.Packets), h.Bytes-min(h.Bytes, c.Bytes)
	return h
}
