package profile

import (
	"cmp"
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// Report is what a profile says.
type Report struct {
	SchemaVersion int    `json:"schema_version"`
	Chain         string `json:"chain"`
	Wiring        string `json:"wiring"`
	// Run has the trials, by which the cost was measured, and Condition the load; both
	// are absent where none was offered.
	Run       string           `json:"run,omitempty"`
	Condition *trial.Condition `json:"condition,omitempty"`
	// Clock that samples were taken by: cpu-clock or cycles.
	Clock       string  `json:"clock"`
	FrequencyHz int     `json:"frequency_hz"`
	DurationS   float64 `json:"duration_s"`
	// ByHop tells that time in softirqs is told by the node that has the packet.
	ByHop   bool `json:"by_hop"`
	Samples int  `json:"samples"`
	// Busy samples are those in which a core did not idle; shares are of them.
	Busy  int                  `json:"busy_samples"`
	Lost  uint64               `json:"lost_samples"`
	Cores trial.List[Core]     `json:"cores"`
	Hops  trial.List[Hop]      `json:"hops"`
	All   trial.List[Function] `json:"functions"`
	// Stacks are all that was seen.
	Stacks trial.List[StackCount] `json:"stacks"`
	// Overhead of sampling; absent where it was not measured.
	Overhead *Overhead          `json:"overhead,omitempty"`
	Warnings trial.List[string] `json:"warnings"`
}

// Share is a count of samples, what part of all it is, and the 95% interval of that
// part (Clopper and Pearson).
type Share struct {
	Samples int        `json:"samples"`
	Ratio   float64    `json:"ratio"`
	CI95    [2]float64 `json:"ci95"`
}

// Core is one that was sampled; its share is what it was busy of its own samples, and
// those of its functions are of its busy samples.
type Core struct {
	CPU       int                  `json:"cpu"`
	Busy      Share                `json:"busy"`
	Functions trial.List[Function] `json:"functions"`
}

// Hop is what was done for a node, or for none: (softirq), (outside).
type Hop struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"`
	Share
	// Softirq samples among them were in softirqs.
	Softirq   int                  `json:"softirq_samples"`
	Functions trial.List[Function] `json:"functions"`
}

// Function is how often it was found at work itself, and how often it or what it
// called was.
type Function struct {
	Name   string `json:"name"`
	Kernel bool   `json:"kernel"`
	Self   Share  `json:"self"`
	Total  Share  `json:"total"`
}

// StackCount is one stack, its frames from the outermost on.
type StackCount struct {
	CPU     int               `json:"cpu"`
	Hop     string            `json:"hop"`
	Process string            `json:"process"`
	Frames  trial.List[Frame] `json:"frames"`
	Samples int               `json:"samples"`
}

// Overhead is what sampling costs: the same trials with and without it, in shuffled
// order.
type Overhead struct {
	Metric  string        `json:"metric"`
	Pairs   int           `json:"pairs"`
	With    stats.Summary `json:"with"`
	Without stats.Summary `json:"without"`
	// Ratio of with to without, pair by pair.
	Ratio float64     `json:"ratio"`
	CI95  *[2]float64 `json:"ratio_ci95,omitempty"`
}

// NewReport tells what samples of a chain say.
func NewReport(c Chain, s Samples) Report {
	r := Report{SchemaVersion: trial.SchemaVersion, Chain: c.Name, Wiring: c.Wiring, Clock: s.Clock, FrequencyHz: s.Frequency,
		DurationS: s.Seconds, ByHop: s.ByHop, Lost: s.Lost, Warnings: slices.Clone(s.Warnings)}
	busy := slices.DeleteFunc(slices.Clone(s.Stacks), func(st Stack) bool { return st.Hop == Idle })
	r.Samples, r.Busy = count(s.Stacks), count(busy)
	r.All = functionsOf(busy, r.Busy)
	r.cores(s, busy)
	r.hops(c, busy)
	for _, st := range s.Stacks {
		r.Stacks = append(r.Stacks, st.counted())
	}
	r.warn(s)
	return r
}

// Load that was offered, in words.
func (r Report) Load() string {
	if r.Condition == nil {
		return "its own load"
	}
	return r.Condition.Protocol + " by " + r.Condition.Tool
}

func count(stacks []Stack) (n int) {
	for _, st := range stacks {
		n += st.Count
	}
	return n
}

func only(stacks []Stack, keep func(Stack) bool) (kept []Stack) {
	for _, st := range stacks {
		if keep(st) {
			kept = append(kept, st)
		}
	}
	return kept
}

func shareOf(samples, all int) Share {
	if all == 0 {
		return Share{CI95: [2]float64{0, 1}}
	}
	return Share{samples, float64(samples) / float64(all), stats.ProportionInterval(samples, all)}
}

func (r *Report) cores(s Samples, busy []Stack) {
	for _, cpu := range s.Cores {
		here := func(st Stack) bool { return st.CPU == cpu }
		own := only(busy, here)
		n := count(own)
		r.Cores = append(r.Cores, Core{cpu, shareOf(n, count(only(s.Stacks, here))), functionsOf(own, n)})
	}
}

func (r *Report) hops(c Chain, busy []Stack) {
	nodes := slices.Clone(c.Nodes)
	for _, name := range []string{Softirq, Outside} {
		nodes = append(nodes, Node{Name: name})
	}
	for _, n := range nodes {
		own := only(busy, func(st Stack) bool { return st.Hop == n.Name })
		h := Hop{Name: n.Name, Kind: n.Kind, Share: shareOf(count(own), r.Busy)}
		h.Functions = functionsOf(own, h.Samples)
		h.Softirq = count(only(own, func(st Stack) bool { return SoftirqIn(st.Frames) >= 0 }))
		r.Hops = append(r.Hops, h)
	}
}

// functionsOf stacks, those found at work most often first. A function that calls
// itself counts once a stack.
func functionsOf(stacks []Stack, all int) []Function {
	self, total := map[Frame]int{}, map[Frame]int{}
	for _, st := range stacks {
		seen := map[Frame]bool{}
		for i, f := range st.Frames {
			if i == len(st.Frames)-1 {
				self[f] += st.Count
			}
			if !seen[f] {
				total[f] += st.Count
			}
			seen[f] = true
		}
	}
	out := []Function{}
	for f, n := range total {
		out = append(out, Function{f.Function, f.Kernel, shareOf(self[f], all), shareOf(n, all)})
	}
	slices.SortFunc(out, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Self.Samples, a.Self.Samples), cmp.Compare(b.Total.Samples, a.Total.Samples), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func (st Stack) counted() StackCount {
	return StackCount{CPU: st.CPU, Hop: st.Hop, Process: st.Process, Samples: st.Count, Frames: st.Frames}
}

// fewest is the part of the samples that were due below which a reader is told.
const fewest = .9

func (r *Report) warn(s Samples) {
	if s.Lost > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d samples were lost", s.Lost))
	}
	due := s.Seconds * float64(s.Frequency*len(s.Cores))
	if s.Clock == CPUClock && float64(r.Samples) < fewest*due {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d samples of %.0f that were due were taken: the machine was taken away from its cores, or the kernel slowed sampling down (kernel.perf_event_max_sample_rate)", r.Samples, due))
	}
	if s.Clock == CPUClock {
		r.Warnings = append(r.Warnings, "there are no hardware counters: samples are by the kernel's timer, and what runs with interrupts off is counted where they are allowed again")
	}
}
