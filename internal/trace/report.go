package trace

import "nfchain.dev/nfchain/internal/trial"

// Report is what was seen of a chain.
type Report struct {
	SchemaVersion int     `json:"schema_version"`
	Chain         string  `json:"chain"`
	Wiring        string  `json:"wiring"`
	DurationS     float64 `json:"duration_s"`
	// Path says which of several paths the packets take that are sent, and why; the hops are those of it.
	Path string `json:"path,omitempty"`
	// Own is what became of the packets that were sent; absent where none were.
	Own  *Conservation   `json:"own,omitempty"`
	Hops trial.List[Hop] `json:"hops"`
	// Elsewhere are drops of our own packets outside the chain's namespaces.
	Elsewhere trial.List[Drop] `json:"elsewhere"`
	// Taps are what cores spent on copies in taps of mirrors; none where that was not asked for.
	Taps []Tap `json:"taps,omitempty"`
	// Warnings a reader must see beside the numbers.
	Warnings trial.List[string] `json:"warnings"`
}

// Tap is where copies of packets end.
type Tap struct {
	Name string `json:"name"`
	// SoftirqS is the time that cores spent on copies that were received there.
	SoftirqS float64 `json:"softirq_s"`
}

// Conservation sets what was sent against what became of it.
type Conservation struct {
	Sent     uint64 `json:"sent_packets"`
	Received uint64 `json:"received_packets"`
	// Duplicates came more than once; they are not in Received.
	Duplicates uint64 `json:"duplicate_packets"`
	// Dropped have a cause, which their hop tells.
	Dropped uint64 `json:"dropped_packets"`
	// XDP are packets that XDP lost, as far as they can be ours: it is not told whose
	// they were.
	XDP uint64 `json:"xdp_dropped_packets"`
	// Functions are packets that functions' programs dropped, by their own count, as far
	// as they can be ours.
	Functions uint64 `json:"function_dropped_packets"`
	// Unexplained is Sent − Received − Dropped − Functions − XDP. It is negative where packets were
	// both dropped and received, as copies can be.
	Unexplained int64 `json:"unexplained_packets"`
	// Refused were not taken by the sending socket; they are not in Sent.
	Refused uint64 `json:"refused_packets"`
	// Error is why the last of them was refused.
	Error string `json:"error,omitempty"`
}

// Hop is one node of the chain, or (wiring): what is between nodes, where packets only end.
type Hop struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	// Of is the function that it is one of several replicas of; "" for all others.
	Of string `json:"of,omitempty"`
	// Aside tells that there are ways past it, because ways part before.
	Aside bool `json:"aside,omitempty"`
	// OneWay tells that what goes from the last end to the first does not come by it.
	OneWay bool `json:"one_way,omitempty"`
	// In and Out are what its interfaces took and gave of all traffic, both ways.
	In  Amount `json:"in"`
	Out Amount `json:"out"`
	// OwnIn and OwnOut are what of our packets came in and went out.
	OwnIn  Amount `json:"own_in"`
	OwnOut Amount `json:"own_out"`
	// TimeIn and TimeOut are how long our packets took from being sent until they came
	// in, and went out.
	TimeIn     *Times                `json:"time_in,omitempty"`
	TimeOut    *Times                `json:"time_out,omitempty"`
	Interfaces trial.List[Interface] `json:"interfaces"`
	Drops      trial.List[Drop]      `json:"drops"`
	// Rules are the function's counted rules that matched meanwhile. What they, and the policy, dropped is in Drops, too, and that of a
	// function without a namespace in Steps.
	Rules trial.List[RuleCount] `json:"rules"`
	// Steps are what functions without a namespace, and programs that hand packets on, did
	// meanwhile to packets of all. What they dropped is in Drops, too.
	Steps trial.List[StepCount] `json:"steps"`
	// SoftirqS is the time that cores spent on packets that were received here.
	SoftirqS *float64 `json:"softirq_s,omitempty"`
	// hands tells that programs hand packets on there.
	hands bool
}

// Interface is one of a hop's.
type Interface struct {
	// kind of interface it is, and vlans of which there are interfaces at it.
	kind    string
	vlans   []uint16
	Name    string `json:"name"`
	In      Amount `json:"in"`
	Out     Amount `json:"out"`
	OwnIn   Amount `json:"own_in"`
	OwnOut  Amount `json:"own_out"`
	TimeIn  *Times `json:"time_in,omitempty"`
	TimeOut *Times `json:"time_out,omitempty"`
	// Driver has the driver's own counters of drops and errors that moved.
	Driver trial.Map[uint64] `json:"driver"`
	Queues trial.List[Queue] `json:"queues"`
}

// Amount of traffic.
type Amount struct {
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
}

// Times of packets, ns; of a sample, spread evenly, where there were many.
type Times struct {
	Packets  int    `json:"packets"`
	MinNS    uint64 `json:"min_ns"`
	MedianNS uint64 `json:"median_ns"`
	P99NS    uint64 `json:"p99_ns"`
	MaxNS    uint64 `json:"max_ns"`
}

// Drop is packets that ended for one reason at one place.
type Drop struct {
	// Cause is the kernel's word (enum skb_drop_reason, without its prefix), or what XDP
	// did.
	Cause string `json:"cause"`
	// Interface where the packet was, if it was at one.
	Interface string `json:"interface,omitempty"`
	// Of is the node's interface, as client:eth0, that this is the port of, if it is one of the wiring's.
	Of string `json:"of,omitempty"`
	// At is the function of the kernel that dropped it.
	At string `json:"at,omitempty"`
	// Own are our packets; Others all others, and those of which it cannot be told.
	Own    Amount `json:"own"`
	Others Amount `json:"others"`
	// Copy is a copy of a packet for somebody who watches; the packet went on.
	Copy bool `json:"copy,omitempty"`
	// Function is one that the hop's own program counted.
	Function bool `json:"function,omitempty"`
}

// Queue is a queueing discipline: what it dropped, and what was in it at the end.
type Queue struct {
	Kind       string `json:"kind"`
	Drops      uint64 `json:"drops"`
	Overlimits uint64 `json:"overlimits"`
	Backlog    uint64 `json:"backlog_packets"`
}

// RuleCount is what a function's rule matched.
type RuleCount struct {
	// Function that the rule is of, where several share the hop.
	Function string `json:"function,omitempty"`
	// Rule is its place, from 1; 0 is the policy.
	Rule int `json:"rule"`
	// Verdict of the rule is accept or drop; absent where the next one is asked, too, and of the policy.
	Verdict string `json:"verdict,omitempty"`
	Comment string `json:"comment"`
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
}

// dropped tells whether what was counted went no farther.
func (c RuleCount) dropped() bool { return c.Rule == 0 || c.Verdict == "drop" }

// StepCount is what a function without a namespace did to packets of one direction.
type StepCount struct {
	Function string `json:"function"`
	// Direction is forward or reverse; absent where both are counted together.
	Direction string `json:"direction,omitempty"`
	// Did is counted, marked, dropped, or passed on.
	Did string `json:"did"`
	// Why they were dropped, where the function gave them back and they did not go on.
	Why     string `json:"why,omitempty"`
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
}

// dropped tells whether what was counted went no farther.
func (s StepCount) dropped() bool { return s.Did == "dropped" }
