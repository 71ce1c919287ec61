package plan_test

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/resource/tuning"
)

// TestLeave: the forwarder has for a replica that is left its flows what it would have for one that gets no new flow.
func TestLeave(t *testing.T) {
	for name, spec := range map[string]string{
		"in a line":        "functions: [{name: a, kind: forward, REPLICAS}, {name: b, kind: bridge}]\n",
		"beside others":    "functions: [{name: a, kind: forward, REPLICAS}, {name: b, kind: bridge, replicas: 2}, {name: c, kind: forward, REPLICAS}]\n",
		"inline":           "functions: [{name: one, kind: counter, runtime: inline}, {name: a, kind: forward, REPLICAS}, {name: two, kind: counter, runtime: inline}]\n",
		"one-way":          "symmetric: false\nfunctions: [{name: a, kind: forward, REPLICAS}, {name: two, kind: counter, runtime: inline}, {name: b, kind: forward, symmetric: true, REPLICAS}]\n",
		"where ways part":  "functions: [{name: tell, kind: forward, REPLICAS, branches: [{mark: 1, to: server}]}, {name: a, kind: forward, REPLICAS}]\n",
		"on several paths": "functions: [{name: a, kind: forward, REPLICAS}, {name: b, kind: forward}]\nclassifier: {otherwise: direct, rules: [{name: all, match: {protocol: udp}, functions: [b, a]}]}\n",
		"tuned":            "tuning: {gro: true}\nfunctions: [{name: a, kind: forward, REPLICAS}]\n",
		"with headers":     "functions: [{name: a, kind: command, encapsulation: nsh, command: {args: [reads]}, REPLICAS}]\n",
		"led past":         "functions: [{name: x, kind: forward, onFailure: bypass}, {name: a, kind: forward, onFailure: replica, REPLICAS}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := replicated(t, strings.ReplaceAll(spec, "REPLICAS", "replicas: 2"))
			all := replicated(t, strings.ReplaceAll(spec, "REPLICAS", "replicas: 3, weights: [1, 1, 0]"))
			there := map[string]bool{}
			for _, r := range all.Resources {
				if s, is := r.Spec.(link.Spec); is {
					there[s.B.Device] = true
				}
			}
			gone := map[string][]int{}
			for _, n := range p.Nodes {
				if n.Replica != nil && (n.Replica.Of != "b" || name != "beside others") {
					gone[n.Replica.Of] = []int{3}
				}
			}
			left := p.Leave(gone, there)
			is, want := forwarded(left), forwarded(all)
			for port, has := range want {
				if !slices.Equal(is[port], has) {
					t.Errorf("port %s has\n%s, and a replica with weight 0\n%s", port, strings.Join(is[port], "\n"), strings.Join(has, "\n"))
				}
			}
			if len(is) != len(want) {
				t.Errorf("there are %d ports, and with replicas of weight 0 %d", len(is), len(want))
			}
			if lacks := p.Leave(gone, nil); lacks != p {
				t.Error("one without ports is left flows")
			}
			for port, like := range left.Like() {
				if !there[port] || !there[like] || port == like {
					t.Errorf("%s is like %s", port, like)
				}
			}
			if len(left.Like()) == 0 || len(p.Like()) > 0 {
				t.Errorf("like others are %v, and without any %v", left.Like(), p.Like())
			}
		})
	}
}

// forwarded is what a forwarder has at each port, in words.
func forwarded(p *plan.Plan) map[string][]string {
	all := map[string][]string{}
	for _, r := range p.Resources {
		if r.Namespace != p.Between() {
			continue
		}
		text := r.ID + " is " + r.Spec.Fingerprint()
		switch s := r.Spec.(type) {
		case steer.Spec, tuning.Spec:
		case pass.Spec:
			text += " beside " + strings.Join(slices.Sorted(slices.Values(s.Beside)), " ")
		default:
			continue
		}
		all[r.Spec.Key()] = append(all[r.Spec.Key()], text)
	}
	for _, texts := range all {
		slices.Sort(texts)
	}
	return all
}
