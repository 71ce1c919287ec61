package run

// Proven, Planned and Limit are proven, what is planned of what is remembered, and what limits a state has, for tests; and FlowIn is flowIn, FreshPeak freshPeak, Holder holder, Containers containersOf.
var (
	Containers = containersOf
	FlowIn     = flowIn
	FreshPeak  = freshPeak
	Holder     = holder
	Proven     = proven
	Planned    = (*Host).planned
	Limit      = (*State).limit
)

// Clears is clears, for benchmarks.
const Clears = clears
