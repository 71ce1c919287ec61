package run_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/wiring/bridge"
)

// swept is a point with a load of one protocol over a chain of the defaults.
func swept(tool string, frame int, change func(*experiment.Point)) experiment.Point {
	load := api.DefaultLoad()
	load.Tool, load.Protocols, load.FrameSize, load.Duration = tool, []string{trial.UDP}, frame, api.Duration(time.Second)
	p := experiment.Point{Factors: map[string]any{"tool": tool}, Chain: api.DefaultChainSpec(), Load: load}
	if change != nil {
		change(&p)
	}
	return p
}

func TestCellsThatCannotBeHadAreListed(t *testing.T) {
	points := []experiment.Point{
		swept("lacking", 0, nil),
		swept("bulk", 0, nil),
		swept("bulk", 0, func(p *experiment.Point) {
			p.Chain, p.Load, p.Infeasible = api.ChainSpec{}, api.Load{}, "chain.mtu: no"
		}),
		swept("frames", 1518, nil),
		swept("frames", 1518, func(p *experiment.Point) { p.Chain.MTU = 1499 }),
		swept("frames", 1522, func(p *experiment.Point) { p.Load.VLAN = 7 }),
		swept("bulk", 0, func(p *experiment.Point) { p.Chain.Endpoints[0].Namespace = "e2e-nowhere" }),
		swept("bulk", 0, func(p *experiment.Point) {
			p.Chain.Functions = []api.Function{{Name: "f", Ref: "e2e-nothing"}}
		}),
		swept("bulk", 0, func(p *experiment.Point) {
			f := api.FunctionBody{Kind: "forward"}
			p.Chain.Functions = []api.Function{{Name: "f", OnFailure: "block", FunctionBody: f}, {Name: "g", OnFailure: "block", FunctionBody: f}}
		}),
	}
	m := &run.Measurement{Host: newHost(), Tools: append(slices.Clone(tools), named{"lacking", []string{"tool.absent"}, []string{trial.UDP}}, framer{named{"frames", nil, []string{trial.UDP}}})}
	conditions, infeasible, err := m.Cells(t.Context(), "e2e-cells", points)
	if err != nil || len(conditions) != 3 || len(m.Chains) != 3 {
		t.Fatalf("%d conditions over %d chains, error %v", len(conditions), len(m.Chains), err)
	}
	for i, want := range []string{"tool.absent", "chain.mtu: no", "does not fit through an MTU of 1499, which takes 1517", "e2e-nowhere", "e2e-nothing", "or leave it out; chain e2e-cells: function g: onFailure: over wiring "} {
		if i >= len(infeasible) || !strings.Contains(infeasible[i].Reason, want) || strings.HasSuffix(infeasible[i].Reason, run.ErrInput.Error()) {
			t.Errorf("%d: %+v, want %q", i, infeasible, want)
		}
	}
}

// TestDirectPathTakesPortsWhereItIsMeasured, and nowhere else: 1,021 functions fill a bridge.
func TestDirectPathTakesPortsWhereItIsMeasured(t *testing.T) {
	nstest.Require(t, feature.Bridge)
	full := func(path string) experiment.Point {
		return swept("bulk", 0, func(p *experiment.Point) {
			p.Chain.Wiring = "bridge"
			options := bridge.Wiring{}.Options().(*bridge.Options)
			options.Per, options.Arms = "chain", 1
			p.Chain.WiringOptions = map[string]any{"bridge": options}
			p.Load.Path = path
			for i := range 1021 {
				p.Chain.Functions = append(p.Chain.Functions, api.Function{
					Name: fmt.Sprintf("f%d", i), FunctionBody: api.FunctionBody{Kind: "forward", Runtime: "netns", Replicas: 1, Direction: api.Both, Options: &struct{}{}}})
			}
		})
	}
	m := &run.Measurement{Host: newHost(), Tools: tools}
	conditions, infeasible, err := m.Cells(t.Context(), "e2e-cells", []experiment.Point{full(""), full(trial.PathDirect)})
	if err != nil || len(conditions) != 1 || conditions[0].Path != trial.PathChain {
		t.Fatalf("%v, %v", conditions, err)
	}
	if len(infeasible) != 1 || !strings.Contains(infeasible[0].Reason, "needs 1025 ports") {
		t.Errorf("%+v", infeasible)
	}
}

// TestNothingFeasibleIsAnError of the kind that the reasons are of.
func TestNothingFeasibleIsAnError(t *testing.T) {
	m := &run.Measurement{Host: newHost(), Tools: tools}
	_, infeasible, err := m.Cells(t.Context(), "e2e-cells", []experiment.Point{{Infeasible: "first"}, {Infeasible: "second"}})
	if !errors.Is(err, run.ErrInput) || !strings.Contains(err.Error(), "none of 2") || !strings.Contains(err.Error(), "first") || len(infeasible) != 2 {
		t.Errorf("%d infeasible, error %v", len(infeasible), err)
	}
}
