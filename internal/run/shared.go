package run

import (
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// PathState is how many flows stay on which path.
type PathState struct {
	// Flows that are known, of these the Busy ones had a packet of late, and of those the
	// Older ones go a path that others no longer go.
	Flows int `json:"flows"`
	Busy  int `json:"busy_flows"`
	Older int `json:"older_flows"`
	// New is how many flows became known, and Moved how many went on by another path because
	// theirs was no more, since the ports are there.
	New   uint64 `json:"new_flows"`
	Moved uint64 `json:"moved_flows"`
	// Unkept packets were of flows for which there was no room among those that are known.
	Unkept uint64 `json:"unkept_packets"`
}

// pathOf a chain where flows stay on theirs.
func pathOf(f *steer.Flows) *PathState {
	if f == nil {
		return nil
	}
	s := &PathState{Older: f.Staying(), New: f.New, Moved: f.Moved, Unkept: f.Unkept}
	for n, known := range f.Known {
		s.Flows, s.Busy = s.Flows+known, s.Busy+f.Busy[n]
	}
	return s
}

// SharedState is how flows are shared out over a function's replicas.
type SharedState struct {
	Function string         `json:"function"`
	Replicas []ReplicaState `json:"replicas"`
	// New is how many flows became known, and Moved how many went on with another replica
	// because theirs had gone, since the ports are there.
	New   uint64 `json:"new_flows"`
	Moved uint64 `json:"moved_flows"`
	// Unkept packets were of flows for which there was no room among those that are known.
	Unkept uint64 `json:"unkept_packets"`
}

// ReplicaState is what one of them has of the flows that are known.
type ReplicaState struct {
	Node  string `json:"node"`
	Flows int    `json:"flows"`
	// Busy flows had a packet of late; others are idle.
	Busy int `json:"busy_flows"`
}

// flowsOf a chain, as its ports know them; nothing where a port is missing.
func (s *State) flowsOf(p *plan.Plan) error {
	var ways []steer.Spec
	for _, r := range p.Resources {
		if way, is := r.Spec.(steer.Spec); is && way.Kept() != nil {
			ways = append(ways, way)
		}
	}
	if len(ways) == 0 || !netns.Exists(p.Between()) {
		return nil
	}
	h, err := netns.Open(p.Between())
	if err != nil {
		return err
	}
	defer h.Close()
	flows, err := steer.FlowsOf(resource.At(h, p.Chain), ways)
	s.Path, s.Shared = pathOf(flows[steer.WholeChain]), sharedOut(p, flows)
	return err
}

// sharedOut is how flows are shared out, function by function.
func sharedOut(p *plan.Plan, flows map[string]*steer.Flows) (all []SharedState) {
	for _, n := range p.Nodes {
		f := flows[n.Function()]
		if n.Replica == nil || f == nil {
			continue
		}
		if !n.Again() {
			all = append(all, SharedState{Function: n.Function(), New: f.New, Moved: f.Moved, Unkept: f.Unkept})
		}
		last := &all[len(all)-1]
		last.Replicas = append(last.Replicas, ReplicaState{n.Name, f.Known[n.Replica.Number], f.Busy[n.Replica.Number]})
	}
	return all
}
