package run

import (
	"fmt"
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// PathState is what flows do since the chain's path changed last, until all go the newest.
type PathState struct {
	// Older flows go by a version of the path that others no longer go: they had a packet less than IdleNS ago.
	Older  int           `json:"older_flows"`
	IdleNS time.Duration `json:"idle_ns"`
	// Since is when the newest version began.
	Since time.Time `json:"since"`
	// Leaving are namespaces of nodes that only those flows go by.
	Leaving []string `json:"leaving"`
	// Kept is how many flows were found that there were before, and Moved how many went on by the newest path because
	// theirs was no more.
	Kept  uint64 `json:"kept_flows"`
	Moved uint64 `json:"moved_flows"`
	// Displaced flows made room for others among those that are known: they were not seen for longest, and not idle.
	Displaced uint64 `json:"displaced_flows"`
	// Unkept packets were of flows for which there was no room among those that are known.
	Unkept uint64 `json:"unkept_packets"`
}

// pathOf a chain whose flows stay on theirs; nil where all go the newest.
func pathOf(p *plan.Plan, at resource.Place) (*PathState, error) {
	s, err := steer.StayingOn(at)
	if err != nil || s == nil {
		return nil, err
	}
	nodes, err := leaving(p)
	if err != nil {
		return nil, err
	}
	return &PathState{Older: s.Flows, IdleNS: s.Idle, Since: s.Since, Leaving: append([]string{}, nodes...), Kept: s.Kept, Moved: s.Moved, Displaced: s.Displaced, Unkept: s.Unkept}, nil
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
	// Leaving tells that the plan has it no more: it gets no new flow, and is removed when it has none that is busy.
	Leaving bool `json:"leaving,omitempty"`
}

// flowsOf a chain, as its ports know them; nothing where a port is missing.
func (s *State) flowsOf(p *plan.Plan) error {
	var ways []steer.Spec
	steered := false
	for _, r := range p.Resources {
		way, is := r.Spec.(steer.Spec)
		if steered = steered || is; is && len(way.Shared()) > 0 {
			ways = append(ways, way)
		}
	}
	if !steered || !netns.Exists(p.Between()) {
		return nil
	}
	h, err := netns.Open(p.Between())
	if err != nil {
		return err
	}
	defer h.Close()
	at := resource.At(h, p.Chain)
	if s.Path, err = pathOf(p, at); err != nil || len(ways) == 0 {
		return err
	}
	flows, err := steer.FlowsOf(at, ways)
	s.Shared = sharedOut(p, flows)
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
		last.add(f, n.Replica.Number, false)
		if n.Replica.Number < n.Replica.All {
			continue
		}
		for _, number := range slices.Sorted(slices.Values(f.Leaving)) {
			last.add(f, number, true)
		}
	}
	return all
}

// add the replica of a number.
func (s *SharedState) add(f *steer.Flows, number int, leaving bool) {
	s.Replicas = append(s.Replicas, ReplicaState{fmt.Sprintf("%s-%d", s.Function, number), f.Known[number], f.Busy[number], leaving})
}
