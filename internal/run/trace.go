package run

import (
	"context"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/trace"
)

// Traced is a chain as package trace looks at it.
func Traced(p *plan.Plan) trace.Chain { return TracedOn(p, nil, "") }

// TracedOn is the chain as packets see it that are on one of several paths; why they are says how they came to it.
func TracedOn(p *plan.Plan, path *plan.Path, why string) trace.Chain {
	c := trace.Chain{Name: p.Chain, Wiring: p.Wiring, Address: p.Reached().Addresses[0], Server: boundTo(p.Reached()), Between: p.Between(), Path: why}
	arrivals, handed := p.ArrivalsOn(path), p.Handed()
	for _, n := range p.On(path) {
		node := tracedNode(n)
		node.Aside, node.OneWay = (path == nil || path.Branched) && !p.Always(n.Name), !p.Returns(n, path)
		for _, i := range []*plan.Interface{n.West, n.East} {
			if i == nil || slices.Contains(node.Interfaces, i.Device) {
				continue
			}
			node.Interfaces = append(node.Interfaces, i.Device)
			if node.Handed[i.Device] = handed[resource.Interface{Namespace: n.Namespace, Device: i.Device}]; node.Handed[i.Device] {
				continue
			}
			for _, at := range arrivals[resource.Interface{Namespace: n.Namespace, Device: i.Device}] {
				node.Arrivals[i.Device] = at
			}
		}
		c.Nodes = append(c.Nodes, node)
	}
	c.Taps, c.Ports = taps(p), portsOf(p)
	c.Counted = func(ctx context.Context) (map[string]trace.Counted, error) { return counted(ctx, p) }
	return c
}

// tracedNode is a node without what depends on the path of packets.
func tracedNode(n plan.Node) trace.Node {
	node := trace.Node{Name: n.Name, Kind: n.Kind, Namespace: n.Namespace, Arrivals: map[string]resource.Interface{}, Handed: map[string]bool{}, Hands: n.Hook != "", PassesOn: n.PassesOn()}
	if n.Replica != nil {
		node.Of = n.Replica.Of
	}
	return node
}

// portsOf what the wiring has between nodes, by name, with the nodes' interfaces at their other ends.
func portsOf(p *plan.Plan) map[string]resource.Interface {
	all := map[string]resource.Interface{}
	for _, r := range p.Resources {
		if l, is := r.Spec.(link.Spec); is && p.Between() != "" && l.B.Namespace == p.Between() {
			all[l.B.Device] = resource.Interface{Namespace: l.A.Namespace, Device: l.A.Device}
		}
	}
	return all
}

// taps are the namespaces that functions make besides their own, by name.
func taps(p *plan.Plan) map[string]string {
	all := map[string]string{}
	for _, ns := range p.Beside() {
		_, name, _ := namespace.Split(ns)
		all[name] = ns
	}
	return all
}

// counted is what each node's function has counted: its rules, what its policy
// dropped, and what its program did.
func counted(ctx context.Context, p *plan.Plan) (map[string]trace.Counted, error) {
	state, err := Inspect(ctx, p)
	if err != nil {
		return nil, err
	}
	all := map[string]trace.Counted{}
	between := trace.Counted{Steps: append(stepsOf(state.Inline), state.Classifier.dropped()...)}
	for _, f := range state.Inline {
		between.Rules = append(between.Rules, decidedBy(f)...)
	}
	for _, n := range state.Nodes {
		var c trace.Counted
		for _, r := range n.Rules {
			c.Rules = append(c.Rules, trace.RuleCount{Function: r.Function, Rule: r.Rule, Verdict: r.Verdict, Comment: r.Comment, Packets: r.Packets, Bytes: r.Bytes})
		}
		for _, f := range append(n.Functions, FunctionState{Dropped: n.Dropped}) {
			if d := f.Dropped; d != nil && (len(n.Functions) == 0 || f.Name != "") {
				c.Rules = append(c.Rules, trace.RuleCount{Function: f.Name, Packets: d.Packets, Bytes: d.Bytes})
			}
		}
		for _, i := range n.Impairments {
			c.Losses = append(c.Losses, trace.Loss{Cause: "dropped on purpose (" + i.Direction + ")", Packets: i.Dropped},
				trace.Loss{Cause: "dropped at its limit (" + i.Direction + ")", Packets: i.Overflowed},
				trace.Loss{Cause: "refused by the kernel (" + i.Direction + ")", Packets: i.Refused})
		}
		for _, t := range n.Through {
			c.Steps = append(c.Steps, trace.StepCount{Function: n.Name, Direction: t.Direction, Did: "passed on", Packets: t.Packets, Bytes: t.Bytes})
		}
		all[n.Name] = c
		between.Steps = append(between.Steps, n.NSH.dropped(n.Name)...)
	}
	all[trace.WiringHop] = between
	return all, nil
}

// decidedBy are what the rules and the policy of a function without a namespace decided.
func decidedBy(f InlineState) (all []trace.RuleCount) {
	for _, r := range f.Rules {
		all = append(all, trace.RuleCount{Function: f.Name, Rule: r.Rule, Verdict: r.Verdict, Comment: r.Comment, Packets: r.Packets, Bytes: r.Bytes})
	}
	if d := f.Dropped; d != nil {
		all = append(all, trace.RuleCount{Function: f.Name, Packets: d.Packets, Bytes: d.Bytes})
	}
	return all
}

// did is what functions do whose step counts, by its act.
var did = map[string]string{"count": "counted", "mark": "marked", "dscp": "marked", "drop": "dropped", "limit": "dropped", "rules": "dropped", "mirror": "copied", "nat": "translated"}

// stepsOf functions that are inline.
func stepsOf(all []InlineState) (steps []trace.StepCount) {
	for _, f := range all {
		for _, way := range []struct {
			name string
			step *StepState
		}{{string(api.Forward), f.Forward}, {string(api.Reverse), f.Reverse}} {
			if s := way.step; s != nil {
				steps = append(steps, trace.StepCount{Function: f.Name, Direction: way.name, Did: did[s.Act], Packets: s.Packets, Bytes: s.Bytes})
				if s.Act == pass.Translate.String() { // what is of no connection, for one
					steps = append(steps, trace.StepCount{Function: f.Name, Direction: way.name, Did: "dropped", Packets: s.Lost + s.Full})
				}
			}
		}
	}
	return steps
}
