package experiment

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// CalibratedFactor marks what is measured at the load that the machine carries most of,
// beside what an experiment's source measured. A selection that does not ask for it means
// the source's.
const CalibratedFactor = "calibrated"

func isCalibrated(factors map[string]any) bool { return factors[CalibratedFactor] == true }

// AnyCalibrated tells whether some conditions are at a calibrated load.
func AnyCalibrated(conditions []trial.Condition) bool {
	return slices.ContainsFunc(conditions, func(c trial.Condition) bool { return isCalibrated(c.Factors) })
}

// Selects is [Matches] with the source's conditions kept apart from those at the calibrated
// load, which have to be asked for.
func Selects(c trial.Condition, where map[string]any) bool {
	return isCalibrated(c.Factors) == isCalibrated(where) && Matches(c, where)
}

// FewerSettings are what a calibration found with fewer and fewer settings of chains, for
// what cannot have all of them; the load alone comes last.
func FewerSettings(best map[string]any) (out []map[string]any) {
	tuned := func(name string) bool { return strings.HasPrefix(name, tuningPath) }
	long := func(name string) bool { return name == "mtu" }
	for _, drop := range []func(string) bool{tuned, long, func(name string) bool { return tuned(name) || long(name) }} {
		fewer := maps.Clone(best)
		maps.DeleteFunc(fewer, func(name string, _ any) bool { return drop(name) })
		same := func(o map[string]any) bool { return reflect.DeepEqual(o, fewer) }
		if len(fewer) < len(best) && !slices.ContainsFunc(out, same) {
			out = append(out, fewer)
		}
	}
	return out
}

// CalibratedLost are the combinations at the calibrated load that cannot be had for reasons
// of their own. Those that share the reason of one of the source's are left out of all: they
// say nothing more.
func CalibratedLost(infeasible []trial.Infeasible) (all, lost []trial.Infeasible) {
	reasons := map[string]bool{}
	for _, cell := range infeasible {
		if !isCalibrated(cell.Factors) {
			reasons[cell.Reason] = true
		}
	}
	for _, cell := range infeasible {
		own := isCalibrated(cell.Factors) && !reasons[cell.Reason]
		if own {
			lost = append(lost, cell)
		}
		if own || !isCalibrated(cell.Factors) {
			all = append(all, cell)
		}
	}
	return all, lost
}

// otherNames of what a calibration finds, as sweeps may have them.
var otherNames = map[string]string{
	"flows": "load.flows", "payload_size": "load.payload_size", "zerocopy": "load.zerocopy", "mtu": "chain.mtu",
}

// tuningPath begins the names of the settings of the chain's tuning.
const tuningPath = "chain.tuning."

// kernelsOwn are the settings that a chain has if its file says nothing of them.
var kernelsOwn = superPackets("64KiB")[0]

// AtCalibrated adds to points, behind them, those that they come to at what a calibration
// found: its flows, its settings, and for what is over TCP alone its size of sends and
// zerocopy, since datagrams, frames and messages have sizes that an experiment is about. What
// an experiment varies itself stays at each point, but for flows and that size. Where all
// that measure the same come to what they are already, none are added.
func AtCalibrated(points []Point, best map[string]any) []Point {
	if _, has := number(best["flows"]); !has {
		return points
	}
	twins, seen, anew := []Point{}, map[string]bool{}, map[string]bool{}
	for _, p := range points {
		if p.Infeasible != "" {
			continue
		}
		twin := p.clone()
		twin.calibrate(best, variedBeside(points, p))
		if !reflect.DeepEqual(twin.Load, p.Load) || !reflect.DeepEqual(twin.Chain, p.Chain) {
			anew[p.measures()] = true
		}
		twin.Factors[CalibratedFactor] = true
		if key := Describe(twin.Factors); !seen[key] {
			seen[key] = true
			twins = append(twins, twin)
		}
	}
	return append(slices.Clip(points), slices.DeleteFunc(twins, func(p Point) bool { return !anew[p.measures()] })...)
}

// measures is the same for points of the same protocols.
func (p Point) measures() string { return strings.Join(p.Load.Protocols, " ") }

// WithPointsOf adds the points at the load that a run was calibrated to, if it was to any.
func WithPointsOf(points []Point, r trial.Run) []Point { return AtCalibrated(points, r.Calibrated) }

// variedBeside are the settings that an experiment varies, or says, among the points that
// measure the same as one.
func variedBeside(points []Point, one Point) map[string]bool {
	varied := map[string]bool{}
	for _, p := range points {
		if p.measures() != one.measures() {
			continue
		}
		for field := range p.Factors {
			varied[field] = true
		}
	}
	return varied
}

// calibrate puts what a calibration found into a point's chain and load, and into those of
// its factors that say so.
func (p *Point) calibrate(best map[string]any, varied map[string]bool) {
	for name, v := range best {
		if !p.takes(name) || !replaced(name) && (varied[name] || varied[otherNames[name]]) {
			continue
		}
		p.set(name, v)
	}
}

// replaced tells what takes the place of an experiment's own values.
func replaced(name string) bool { return name == "flows" || name == "payload_size" }

// takes tells whether a setting means anything to what the point measures.
func (p *Point) takes(name string) bool {
	protocols := p.Load.Protocols
	switch name {
	case "flows": // one message at a time, whatever is asked for
		return !slices.Equal(protocols, []string{trial.Latency})
	case "payload_size", "zerocopy":
		return slices.Contains(protocols, trial.TCP) && !slices.Contains(protocols, trial.UDP)
	}
	return p.Chain.Wiring != "host" && p.Chain.Wiring != "pod" // whose loopback stays as it is
}

// set one setting.
func (p *Point) set(name string, v any) {
	if n, is := number(v); is {
		v = int(n)
	}
	switch name {
	case "flows":
		p.Load.Flows, _ = v.(int)
	case "payload_size":
		size, err := quantity(v, parseSize)
		if err != nil {
			return
		}
		p.Load.PayloadSize, v = api.Size(size), int(size)
	case "zerocopy":
		p.Load.Zerocopy = v == true
	case "mtu":
		p.Chain.MTU, _ = v.(int)
	default:
		p.tune(strings.TrimPrefix(name, tuningPath), v)
	}
	for _, field := range []string{name, otherNames[name]} {
		if _, has := p.Factors[field]; has {
			p.Factors[field] = v
		}
	}
}

// tune sets a field of the chain's tuning by its name in files, unless the kernel has that
// value by itself. Points share what their tuning points at, so all of it is made anew.
func (p *Point) tune(field string, v any) {
	text, err := json.Marshal(p.Chain.Tuning)
	if err != nil {
		return
	}
	fields := map[string]any{}
	if json.Unmarshal(text, &fields) != nil {
		return
	}
	if own, has := kernelsOwn[tuningPath+field]; has && fields[field] == nil && own == v {
		return
	}
	fields[field] = v
	tuning := api.Tuning{}
	if text, err = json.Marshal(fields); err == nil && json.Unmarshal(text, &tuning) == nil {
		p.Chain.Tuning = tuning
	}
}
