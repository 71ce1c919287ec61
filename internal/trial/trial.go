// Package trial holds the words of a measurement: the condition a trial is run
// under, the raw sample it gives, the environment it ran in, and the run that
// collects them, and what repeats come to. Nothing here acts or has a clock.
package trial

import (
	"encoding/json"
	"slices"
	"time"
)

// SchemaVersion of every JSON object this package describes. Objects only gain
// fields within one version.
const SchemaVersion = 1

// The paths a condition may take.
const (
	PathChain  = "chain"  // through every function
	PathDirect = "direct" // the same ends and wiring with no function
)

// The protocols a condition may use.
const (
	TCP     = "tcp"     // bulk goodput over TCP
	UDP     = "udp"     // bulk goodput and loss over UDP
	Latency = "latency" // round trips of single small messages
	TCPRR   = "tcp_rr"  // transactions over one TCP connection a flow
	UDPRR   = "udp_rr"  // transactions over UDP
	RFC6349 = "rfc6349" // TCP by the method of RFC 6349
	TCPCRR  = "tcp_crr" // transactions with a TCP connection made and closed for each
	HTTP    = "http"    // requests to a web server
)

// Condition is what is held fixed during a trial and repeated.
type Condition struct {
	Path     string `json:"path"`
	Protocol string `json:"protocol"`
	Tool     string `json:"tool"`
	Flows    int    `json:"flows"`
	// PayloadSize is the bytes of one send; absent leaves it to the tool.
	PayloadSize uint64 `json:"payload_size,omitempty"`
	// OfferedBps is the load offered in sum over the flows, bit/s; with OfferedPps
	// absent too it is unlimited.
	OfferedBps float64 `json:"offered_bps,omitempty"`
	// OfferedPps is the load offered in sum over the flows, frames/s.
	OfferedPps float64 `json:"offered_pps,omitempty"`
	Frames
	Messages
	Web
	Beside
	Zerocopy  bool    `json:"zerocopy"`
	Affinity  string  `json:"affinity"`
	DurationS float64 `json:"duration_s"`
	// Length counts the nodes of the path, both ends included.
	Length int `json:"length"`
	// Search chooses the load of each trial; absent where the load is given.
	Search *Search `json:"search,omitempty"`
	// Instances of the chain on which it is measured, of those that the run makes one after the other, counted from
	// 1; absent for each.
	Instances List[int] `json:"instances,omitempty"`
	// Factors are the swept values that lead to this condition, by field name.
	Factors Map[any] `json:"factors"`
}

// Frames are what a generator of frames sends; absent for other tools.
type Frames struct {
	// FrameSize in bytes with the frame check sequence, or IMIX, a mix by its
	// genome (RFC 6985).
	FrameSize int    `json:"frame_size,omitempty"`
	IMIX      string `json:"imix,omitempty"`
	// Pattern of sending: periodic or poisson.
	Pattern string `json:"pattern,omitempty"`
	// Burst is how many frames are sent back to back.
	Burst int `json:"burst,omitempty"`
	// Bidirectional traffic is offered by both ends, the whole load by each.
	Bidirectional bool `json:"bidirectional,omitempty"`
	IPVersion     int  `json:"ip_version,omitempty"`
	VLAN          int  `json:"vlan,omitempty"`
	// FlowsBy is what flows differ in, one of the rules below; absent for ports.
	FlowsBy string `json:"flows_by,omitempty"`
}

// The rules by which flows differ.
const (
	FlowsByPorts     = "ports"
	FlowsByAddresses = "addresses"
	FlowsByBoth      = "both"
)

// Beside is what else there was on the machine; absent where there was nothing.
type Beside struct {
	// ActiveChains carried the load at once, each the whole of it. The metrics that add
	// up are sums, and those of chain 2 begin with chain2_.
	ActiveChains int `json:"active_chains,omitempty"`
	// IdleContainers carried nothing.
	IdleContainers int `json:"idle_containers,omitempty"`
	// Harm is what the chain lost during each trial.
	Harm string `json:"harm,omitempty"`
}

// Messages are what transactions are made of; absent for what has none.
type Messages struct {
	// RequestSize and ResponseSize in bytes; absent leaves them to the tool, which
	// takes 1.
	RequestSize  uint64 `json:"request_size,omitempty"`
	ResponseSize uint64 `json:"response_size,omitempty"`
	// BusyLoop has both sides ask for messages without sleeping.
	BusyLoop bool `json:"busy_loop,omitempty"`
}

// Web is what requests to a web server are; absent for other protocols.
type Web struct {
	// URL that is asked for; absent for an object of the tool's own server.
	URL string `json:"url,omitempty"`
	// RequestRate is how many requests a second are due; absent where each follows an answer.
	RequestRate int `json:"request_rate,omitempty"`
}

// Trial is one measurement under one condition, raw.
type Trial struct {
	// Condition is the index into the run's conditions.
	Condition int `json:"condition"`
	// Repeat counts from 1.
	Repeat int `json:"repeat"`
	// Step counts the trials of one search from 1; absent without a search.
	Step int `json:"step,omitempty"`
	// Asked is what the search asked for, with the reason; absent without one. The
	// trial that a search ends with, of step 0, is what the search came to.
	Asked *Step `json:"asked,omitempty"`
	// Instance counts, from 1, how often chains had been made anew in this run when
	// the trial began; trials of one instance went through the same objects.
	Instance  int       `json:"instance,omitempty"`
	StartedAt time.Time `json:"started_at"`
	DurationS float64   `json:"duration_s"`
	// OutsideS is the time before the trial in which none was under way, since the one
	// before or since the run began or went on: chains were made and proven, and a search
	// paused. Runs of before have none.
	OutsideS float64 `json:"outside_s,omitempty"`
	// Made are the chains that came up from nothing since the trial before, the one that is
	// measured and those beside it; absent where the same chain was up already.
	Made List[Making] `json:"made,omitempty"`
	// Metrics by name, units in the name: goodput_bps, loss_ratio, latency_p99_ns.
	// What was not measured is absent.
	Metrics Map[float64] `json:"metrics"`
	// Histograms by metric stem (latency_ns), HdrHistogram V2 compressed, base64,
	// values in the unit of the name, so that percentiles can be taken over
	// several trials instead of being averaged.
	Histograms Map[string] `json:"histograms"`
	// Series are metrics over the time of the trial, by name.
	Series Map[Series] `json:"series"`
	// Observed is what the machine did meanwhile.
	Observed Observation `json:"observed"`
	// Raw is each tool process's own output, as it printed it.
	Raw List[ToolOutput] `json:"raw"`
	// Warnings a reader must see beside the numbers.
	Warnings List[string] `json:"warnings"`
}

// Series is one metric over the time of a trial, from its start.
type Series struct {
	// StepS is the time from one value to the next, seconds. Value i is of the
	// time from i to i+1 steps.
	StepS float64 `json:"step_s"`
	// Values in the metric's unit; null where nothing was measured in that step.
	Values List[*float64] `json:"values"`
}

// ToolOutput is what one process of a traffic tool printed.
type ToolOutput struct {
	Command List[string] `json:"command"`
	Node    string       `json:"node"`
	// Output is the tool's JSON where it prints JSON, else a JSON string.
	Output json.RawMessage `json:"output"`
}

// Observation is the machine during one trial. What this machine cannot tell is
// absent, never zero.
type Observation struct {
	CPUs       List[CPUUse]          `json:"cpus"`
	Processes  List[ProcessUse]      `json:"processes"`
	Interfaces List[InterfaceCounts] `json:"interfaces"`
	// Fragments are of the ends' namespaces; absent where those are not the chain's own.
	Fragments    []FragmentCounts   `json:"fragments,omitempty"`
	MemoryUsed   *uint64            `json:"memory_used_bytes,omitempty"`
	BlockRead    *uint64            `json:"block_read_bytes,omitempty"`
	BlockWritten *uint64            `json:"block_written_bytes,omitempty"`
	FrequencyHz  []float64          `json:"cpu_frequency_hz,omitempty"`
	TemperatureC map[string]float64 `json:"temperature_celsius,omitempty"`
	// Load is how busy the machine was with everything.
	Load *Load `json:"load,omitempty"`
	// Impairments are what impair functions did.
	Impairments List[Impairment] `json:"impairments,omitempty"`
	// CoresLost are the cores that were taken away, by their numbers, and CoresCame those
	// that were not there at the start.
	CoresLost []int `json:"cores_taken_away,omitempty"`
	CoresCame []int `json:"cores_added,omitempty"`
	// ClockSetS is how far the wall clock was set, s, at the most.
	ClockSetS *float64 `json:"wall_clock_set_s,omitempty"`
}

// CPUUse is the share of the trial's time that a core spent, each 0 to 1.
type CPUUse struct {
	CPU     int     `json:"cpu"`
	User    float64 `json:"user_ratio"`
	System  float64 `json:"system_ratio"`
	Softirq float64 `json:"softirq_ratio"`
	Idle    float64 `json:"idle_ratio"`
	Steal   float64 `json:"steal_ratio"`
}

// ProcessUse is the CPU time of a process of a function or a tool.
type ProcessUse struct {
	Node    string  `json:"node"`
	Command string  `json:"command"`
	PID     int     `json:"pid"`
	UserS   float64 `json:"user_s"`
	SystemS float64 `json:"system_s"`
	// CPUS is the two together to the nanosecond, s, of a process that was there at the trial's end; they are told in
	// hundredths of a second then.
	CPUS *float64 `json:"cpu_s,omitempty"`
	// MemoryPeak is the largest resident size during the trial, bytes, where the kernel told: of a process that is older than that, the
	// largest that was seen, at the trial's ends and every second between.
	MemoryPeak *uint64 `json:"memory_peak_bytes,omitempty"`
	// CPUs that it was allowed to run on when it was last seen, as the kernel told.
	CPUs string `json:"cpus_allowed,omitempty"`
}

// Took is the CPU time that the process took, s, as exactly as it is known.
func (p ProcessUse) Took() float64 {
	if p.CPUS != nil {
		return *p.CPUS
	}
	return p.UserS + p.SystemS
}

// InterfaceCounts is how much an interface of the chain counted during the trial.
type InterfaceCounts struct {
	Node      string `json:"node"`
	Interface string `json:"interface"`
	RxPackets uint64 `json:"rx_packets"`
	TxPackets uint64 `json:"tx_packets"`
	RxBytes   uint64 `json:"rx_bytes"`
	TxBytes   uint64 `json:"tx_bytes"`
	RxDropped uint64 `json:"rx_dropped"`
	TxDropped uint64 `json:"tx_dropped"`
	RxErrors  uint64 `json:"rx_errors"`
	TxErrors  uint64 `json:"tx_errors"`
}

// The states of a run.
const (
	Running     = "running"
	Done        = "done"
	Interrupted = "interrupted"
	Failed      = "failed"
)

// Run is a set of conditions, their trials, and what led to them.
type Run struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"run"`
	Chain         string `json:"chain"`
	// Experiment is the name of the experiment, empty for a plain bench.
	Experiment string    `json:"experiment,omitempty"`
	State      string    `json:"state"`
	CreatedAt  time.Time `json:"created_at"`
	// Command repeats the run.
	Command List[string] `json:"command"`
	// Spec is the file the run was made from, as it was read.
	Spec string `json:"spec"`
	Seed int64  `json:"seed"`
	// Repeats asked for of every condition; the least number where Until is set.
	Repeats int `json:"repeats"`
	// Until is how wide the interval of each condition's main metric may be, as a
	// share of its centre, before the repeats end; 0 for a fixed number of repeats.
	Until float64 `json:"until_ratio,omitempty"`
	// MaxRepeats bounds the repeats where Until is set.
	MaxRepeats int `json:"max_repeats,omitempty"`
	// Redeploy is how many instances of the chain, made one after the other, the
	// Repeats are spread over; 0 for one.
	Redeploy int `json:"redeploy,omitempty"`
	// StartAlone tells that before each of them the engine started its containers by themselves.
	StartAlone  bool        `json:"start_alone,omitempty"`
	Quick       bool        `json:"quick"`
	Environment Environment `json:"environment"`
	// Setups are the chains that were made for the conditions, as they were read
	// back; runs of before have none.
	Setups     List[Setup]     `json:"setups"`
	Conditions List[Condition] `json:"conditions"`
	// Infeasible are the combinations of the sweep that are no conditions.
	Infeasible List[Infeasible] `json:"infeasible"`
	// Dropped are the combinations that were left out for want of time; most runs have none.
	Dropped List[Infeasible] `json:"dropped,omitempty"`
	// Calibrated is the load and the settings of the conditions whose factor calibrated is
	// true, as a calibration of the machine found them; runs without such have none.
	Calibrated Map[any]    `json:"calibrated,omitempty"`
	Trials     List[Trial] `json:"trials"`
	// Warnings a reader must see beside the numbers.
	Warnings List[string] `json:"warnings"`
}

// On tells whether it is measured on an instance of the chain.
func (c Condition) On(instance int) bool {
	return len(c.Instances) == 0 || slices.Contains(c.Instances, instance)
}

// RepeatsOf a condition that were asked for; the least number where Until is set.
func (r Run) RepeatsOf(c Condition) int {
	if len(c.Instances) == 0 || r.Redeploy <= 1 {
		return r.Repeats
	}
	return r.Repeats / r.Redeploy * len(c.Instances)
}

// Asked is how many repeats of all conditions were asked for.
func (r Run) Asked() (n int) {
	for _, c := range r.Conditions {
		n += r.RepeatsOf(c)
	}
	return n
}

// Failed is how many repeats of conditions measured nothing, and why the first of them did not.
func (r Run) Failed() (n int, why string) {
	for _, t := range r.Trials {
		if t.Step > 0 || len(t.Metrics) > 0 || len(t.Warnings) == 0 {
			continue
		}
		if n++; n == 1 {
			why = t.Warnings[0]
		}
	}
	return n, why
}

// Finished is how many repeats of conditions the run has. The steps of a search are
// none; it counts as one when it has ended.
func (r Run) Finished() (n int) {
	for _, t := range r.Trials {
		if t.Step == 0 {
			n++
		}
	}
	return n
}
