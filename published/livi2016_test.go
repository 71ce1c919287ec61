package published_test

import (
	"math"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/published"
)

// paperCores are those of the machine that Livi et al. measured on.
const paperCores = 8

// cell is what a simulated machine is asked to carry.
type cell struct {
	experiment.Point
	length, flows, size, mtu int
	udp                      bool
}

func (c cell) is(factor string, value any) bool { return c.Factors[factor] == value }

// of a factor that is a number.
func (c cell) of(factor string) float64 {
	n, _ := c.Factors[factor].(int)
	return float64(n)
}

// measured is what a simulated machine carries, by metric.
type measured map[string]float64

func carries(bps float64) measured { return measured{"goodput_bps": bps} }

// read a published experiment as a machine with so many cores has it.
func read(t *testing.T, id string, cores int) (api.ExperimentSpec, []experiment.Point) {
	t.Helper()
	text, err := published.Read(id)
	if err != nil {
		t.Fatal(err)
	}
	file, err := registry.Words().Decode(id, text)
	if err != nil {
		t.Fatal(err)
	}
	spec := experiment.OnCores(file.Experiments[0].Spec, cores)
	points, err := experiment.Points(spec, registry.Words())
	if err != nil {
		t.Fatal(err)
	}
	return spec, points
}

// simulate a run of all points that such a machine can measure.
func simulate(spec api.ExperimentSpec, points []experiment.Point, cores int, system func(cell) measured) trial.Run {
	run := trial.Run{Environment: trial.Environment{CPUs: cores}, Repeats: spec.Load.Repeats}
	for _, p := range points {
		if p.Infeasible != "" {
			continue
		}
		c := cell{p, p.Chain.Length(), p.Load.Flows, int(p.Load.PayloadSize), p.Chain.MTU, p.Load.Protocols[0] == trial.UDP}
		run.Conditions = append(run.Conditions, trial.Condition{
			Path: trial.PathChain, Protocol: p.Load.Protocols[0], Flows: c.flows, PayloadSize: uint64(c.size),
			Zerocopy: p.Load.Zerocopy, Length: c.length, Factors: p.Factors,
		})
		for k := range spec.Load.Repeats {
			metrics := trial.Map[float64]{}
			for name, v := range system(c) {
				metrics[name] = v * (1 + 0.001*float64(k%3-1))
			}
			run.Trials = append(run.Trials, trial.Trial{Condition: len(run.Conditions) - 1, Repeat: k + 1, Metrics: metrics})
		}
	}
	return run
}

// everything but a container engine is there.
func has(feature string) bool { return feature != "docker" }

// open are claims of which the opposite world can say no more than that they are not
// shown: a model with one parameter more is never much worse.
var open = map[string]bool{"livi2016/fig7-fade:form": true}

// TestLiviOnTheMachineOfThePaper: where the paper's numbers are the truth its claims
// hold, and where the opposite is they do not.
func TestLiviOnTheMachineOfThePaper(t *testing.T) {
	for id, world := range liviWorlds {
		t.Run(strings.TrimPrefix(id, "livi2016/"), func(t *testing.T) {
			spec, points := read(t, id, paperCores)
			paper := experiment.Judge(spec, simulate(spec, points, paperCores, world.paper), has)
			opposite := experiment.Judge(spec, simulate(spec, points, paperCores, world.opposite), has)
			if len(paper) == 0 {
				t.Fatal("claims nothing")
			}
			for i, v := range paper {
				o := opposite[i]
				want, wrong := experiment.Holds, experiment.DoesNotHold
				if c := spec.Claims[i]; c.Check.Kind == "unavailable" {
					want, wrong = experiment.CannotBeTold, experiment.CannotBeTold
				}
				if v.Verdict != want {
					t.Errorf("%s: %s on the paper's machine, want %s: %s", v.ID, v.Verdict, want, v.Reason)
				}
				if o.Verdict != wrong && (!open[v.ID] || o.Verdict == experiment.Holds) {
					t.Errorf("%s: %s on the opposite one, want %s: %s", v.ID, o.Verdict, wrong, o.Reason)
				}
			}
		})
	}
}

// TestLiviEverywhere: on machines of any size each file makes points, and what it cannot
// have of them is for want of cores alone; each value that the paper prints has its place.
func TestLiviEverywhere(t *testing.T) {
	for _, id := range published.IDs() {
		if !strings.HasPrefix(id, "livi2016/fig") && liviWorlds[id].paper == nil {
			continue
		}
		if liviWorlds[id].paper == nil {
			t.Errorf("%s is not tried on a simulated machine", id)
		}
		for _, cores := range []int{1, 2, 3, 8, 64} {
			spec, points := read(t, id, cores)
			for _, p := range points {
				if p.Infeasible != "" && (cores > 1 || !api.FlowsByCores(p.Factors["flows"])) {
					t.Errorf("%s on %d cores: %v: %s", id, cores, p.Factors, p.Infeasible)
				}
			}
			run := simulate(spec, points, cores, func(cell) measured { return carries(1e9) })
			for _, r := range spec.Reference {
				places := 0
				for _, c := range run.Conditions {
					if experiment.Matches(c, r.At) {
						places++
					}
				}
				if places != 1 {
					t.Errorf("%s on %d cores: the value at %v belongs to %d conditions", id, cores, r.At, places)
				}
			}
		}
	}
}

// A run that measured nothing must not tell anything.
func TestLiviWithoutTrials(t *testing.T) {
	for id := range liviWorlds {
		spec, points := read(t, id, paperCores)
		run := simulate(spec, points, paperCores, func(cell) measured { return nil })
		for _, v := range experiment.Judge(spec, run, has) {
			if v.Verdict != experiment.CannotBeTold {
				t.Errorf("%s: %s without any trial: %s", v.ID, v.Verdict, v.Reason)
			}
		}
	}
}

// TestLiviPeaksApart: the highest sums are compared wherever each is, and not at the number of flows where one of them is.
func TestLiviPeaksApart(t *testing.T) {
	spec, points := read(t, "livi2016/fig1", paperCores)
	for want, plain := range map[string]map[int]float64{holds: {6: 63.9e9, 8: 40e9}, fails: {4: 110e9, 8: 63.9e9}} {
		run := simulate(spec, points, paperCores, func(c cell) measured {
			switch {
			case c.Load.Zerocopy:
				return carries(154.8e9 * growing(c.flows, paperCores))
			case plain[c.flows] > 0:
				return carries(plain[c.flows])
			}
			return carries(30e9)
		})
		for _, v := range experiment.Judge(spec, run, has) {
			if v.ID == "livi2016/fig1-peak" && v.Verdict != want {
				t.Errorf("plain TCP carries %v by flows: %s, want %s: %s", plain, v.Verdict, want, v.Reason)
			}
		}
	}
}

// growing is goodput that grows with flows as long as each side of one has a core.
func growing(flows, cores int) float64 { return math.Min(1, float64(flows)/float64(cores)) }
