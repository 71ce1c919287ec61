package run

import (
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/trace"
)

// ClassifierState is what became of flows by the rules that say which path they take.
type ClassifierState struct {
	// Rules in the order in which they are asked; the last entry is of flows that none matched.
	Rules []PathRuleState `json:"rules"`
	// Earlier are flows that rules before these gave their path, or no rule.
	Earlier RuleFlows `json:"earlier"`
	// Most flows that are known at once.
	Most uint32 `json:"most_flows"`
	// New is how many flows became known, and Moved how many went on by another path because
	// theirs was no more, since the ports are there.
	New   uint64 `json:"new_flows"`
	Moved uint64 `json:"moved_flows"`
	// Unkept packets were of flows for which there was no room among those that are known, and
	// Unknown ones came out of a function by which no path of theirs goes: they went the way of the first.
	Unkept  uint64 `json:"unkept_packets"`
	Unknown uint64 `json:"unknown_packets"`
}

// PathRuleState is what one rule gave a path.
type PathRuleState struct {
	// Rule is its name; otherwise for flows that no rule matched.
	Rule string `json:"rule"`
	// Match is what it asks for, in words.
	Match string `json:"match"`
	// Path is the functions that it leads by; empty the direct one.
	Path []string `json:"path"`
	// Back are the nodes that packets are in on their way back, in path order; absent where that are all of the path.
	Back []string `json:"back,omitempty"`
	// BackFunctions are the functions that they come by then, in path order.
	BackFunctions []string `json:"back_functions"`
	// Branched tells that packets go on from each of the functions as its branches lead.
	Branched bool `json:"branched,omitempty"`
	// ServicePath is what headers of RFC 8300 call the path; absent where no function on it gets any.
	ServicePath uint32 `json:"service_path,omitempty"`
	// Drop tells that packets end where they come in.
	Drop bool `json:"drop,omitempty"`
	// Own tells that the rule leads to a function's own addresses, and is none of the file's.
	Own bool `json:"own,omitempty"`
	RuleFlows
}

// RuleFlows are the flows that have a path by a rule, and their packets both ways.
type RuleFlows struct {
	Flows int `json:"flows"`
	// Busy flows had a packet of late; others are idle.
	Busy    int    `json:"busy_flows"`
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
}

// otherwise stands in the place of a rule's name.
const otherwise = "otherwise"

// classifiedBy the ports of a chain; nil where there is one path, or no port is there.
func classifiedBy(p *plan.Plan) (*ClassifierState, error) {
	if p.Classifier == nil || !netns.Exists(p.Between()) {
		return nil, nil
	}
	var specs []steer.Spec
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Paths != nil {
			specs = append(specs, s)
		}
	}
	h, err := netns.Open(p.Between())
	if err != nil {
		return nil, err
	}
	defer h.Close()
	c, err := steer.ClassifiedBy(resource.At(h, p.Chain), specs)
	if err != nil || c == nil {
		return nil, err
	}
	s := &ClassifierState{Earlier: flowsBy(c, steer.Earlier), Most: c.Most, New: c.New, Moved: c.Moved, Unkept: c.Unkept, Unknown: c.Unknown}
	for i, r := range p.Classifier.Choice.Rules {
		on := p.Classifier.Path(r.Path)
		s.Rules = append(s.Rules, PathRuleState{Rule: r.Name, Match: r.String(), Path: on.Functions, Back: on.Back, BackFunctions: append([]string{}, on.Visited...), Branched: on.Branched, ServicePath: on.ServicePath, Own: i < p.Classifier.Own, RuleFlows: flowsBy(c, i)})
	}
	rest := PathRuleState{Rule: otherwise, Path: []string{}, BackFunctions: []string{}, Drop: p.Classifier.Choice.Drop, RuleFlows: flowsBy(c, len(s.Rules))}
	if !rest.Drop {
		on := p.Classifier.Path(p.Classifier.Choice.Otherwise)
		rest.Path, rest.Back, rest.Branched, rest.ServicePath = on.Functions, on.Back, on.Branched, on.ServicePath
		rest.BackFunctions = append(rest.BackFunctions, on.Visited...)
	}
	s.Rules = append(s.Rules, rest)
	return s, nil
}

func flowsBy(c *steer.Classified, rule int) RuleFlows {
	f, n := c.ByRule[rule], c.Counted[rule]
	return RuleFlows{Flows: f.Known, Busy: f.Busy, Packets: n.Packets, Bytes: n.Bytes}
}

// dropped are the packets that matched no rule, where those end.
func (s *ClassifierState) dropped() []trace.StepCount {
	if s == nil || !s.Rules[len(s.Rules)-1].Drop {
		return nil
	}
	rest := s.Rules[len(s.Rules)-1]
	return []trace.StepCount{{Function: "classifier", Did: "dropped", Packets: rest.Packets, Bytes: rest.Bytes}}
}
