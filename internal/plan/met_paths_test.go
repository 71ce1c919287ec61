package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// forwarder is what a plan has at its ports.
type forwarder struct {
	*plan.Plan
	steers map[string]steer.Spec
	passes map[string]pass.Spec
	// port of each node that faces west or east, and the node behind each.
	port   map[string]string
	behind map[string]int
}

func forwarderOf(p *plan.Plan) *forwarder {
	w := &forwarder{p, map[string]steer.Spec{}, map[string]pass.Spec{}, map[string]string{}, map[string]int{}}
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case steer.Spec:
			w.steers[s.Device] = s
		case pass.Spec:
			w.passes[s.Device] = s
		case link.Spec:
			for i, n := range p.Nodes {
				for side, at := range map[string]*plan.Interface{"west": n.West, "east": n.East} {
					if at != nil && s.A.Namespace == n.Namespace && s.A.Device == at.Device {
						w.port[n.Name+" "+side], w.behind[s.B.Device] = s.B.Device, i
					}
				}
			}
		}
	}
	return w
}

// met are the functions that packets meet from one end to the other, on a path if the chain has several.
func (w *forwarder) met(path *plan.Path, back bool) (met []string, err error) {
	at, side := 0, "east"
	if back {
		at, side = len(w.Nodes)-1, "west"
	}
	for range 100 {
		port := w.port[w.Nodes[at].Name+" "+side]
		s := w.steers[port]
		to := s.To
		if s.Paths != nil && path != nil {
			to = s.Paths.To(path.Name)
		}
		met = append(met, w.passes[port].Of...)
		next, leads := w.behind[to]
		if !leads {
			return met, fmt.Errorf("%s sends nothing on", w.Nodes[at].Name)
		}
		n := w.Nodes[next]
		switch at = next; n.Kind {
		case "endpoint":
			return met, nil
		case plan.StopKind:
		default:
			met = append(met, n.Function())
		}
	}
	return met, fmt.Errorf("packets go round")
}

// TestEveryPathMeetsItsFunctions once, in its order, there and back, whatever the functions are and whichever paths go by them.
func TestEveryPathMeetsItsFunctions(t *testing.T) {
	stops := 0
	for seed := range uint64(600) {
		random := rand.New(rand.NewPCG(seed, 1))
		spec, names, oneWay := drawn(random)
		p, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if err != nil {
			t.Errorf("%v of\n%s", err, spec)
			continue
		}
		w := forwarderOf(p)
		for _, n := range p.Nodes {
			if n.Kind == plan.StopKind {
				stops++
			}
		}
		meets := func(path *plan.Path, want []string, straight bool) {
			if got, err := w.met(path, false); err != nil || !slices.Equal(got, want) {
				t.Errorf("there packets meet %v, want %v, error %v, of\n%s", got, want, err, spec)
			}
			want = slices.DeleteFunc(slices.Clone(want), func(name string) bool { return straight || oneWay[name] })
			slices.Reverse(want)
			if got, err := w.met(path, true); err != nil || !slices.Equal(got, want) {
				t.Errorf("back packets meet %v, want %v, error %v, of\n%s", got, want, err, spec)
			}
		}
		if p.Classifier == nil {
			meets(nil, names, false)
			continue
		}
		for i := range p.Classifier.Paths {
			path := &p.Classifier.Paths[i]
			meets(path, path.Functions, path.OneWay)
		}
	}
	if stops < 300 {
		t.Errorf("there were only %d stops", stops)
	}
}

// drawn is a chain of functions of all kinds, of which some are one-way, and most have rules that lead by some in any order.
func drawn(random *rand.Rand) (spec string, names []string, oneWay map[string]bool) {
	kinds := []string{"kind: forward", "kind: forward, onFailure: bypass", "kind: forward, onFailure: block", "kind: passthrough", "kind: counter, runtime: auto",
		"kind: counter, runtime: inline", "kind: counter, runtime: inline", "kind: counter, runtime: inline"}
	var functions, rules []string
	oneWay = map[string]bool{}
	for i := range 1 + random.IntN(7) {
		name, more := fmt.Sprintf("f%d", i), ""
		if random.IntN(7) == 0 {
			oneWay[name], more = true, ", symmetric: false"
		}
		names, functions = append(names, name), append(functions, "{name: "+name+", "+kinds[random.IntN(len(kinds))]+more+"}")
	}
	spec = "wiring: ebpf\nfunctions: [" + strings.Join(functions, ", ") + "]\n"
	if random.IntN(8) == 0 {
		return spec, names, oneWay
	}
	for i := range 1 + random.IntN(4) {
		by, more := slices.Clone(names), ""
		if random.IntN(2) == 0 {
			random.Shuffle(len(by), func(i, j int) { by[i], by[j] = by[j], by[i] })
		}
		by = by[:random.IntN(len(by)+1)]
		if random.IntN(6) == 0 {
			more = ", symmetric: false"
		}
		rules = append(rules, fmt.Sprintf("{name: r%d, match: {protocol: tcp, destination_port: %d}, functions: [%s]%s}", i, 80+i, strings.Join(by, ", "), more))
	}
	return spec + "classifier: {otherwise: " + []string{"chain", "drop", "direct"}[random.IntN(3)] + ", rules: [" + strings.Join(rules, ", ") + "]}\n", names, oneWay
}
