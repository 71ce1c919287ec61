package run

import (
	"slices"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// PassState is what the steps at one interface did with what came in there. A step saw what
// came, less what is no IP, what is malformed, and what steps before it dropped.
type PassState struct {
	Interface string `json:"interface"`
	// Beside are the interfaces with which it has the steps and the counters in common: what came is what came in by any.
	Beside []string `json:"beside,omitempty"`
	Came   Tally    `json:"came"`
	// Other is what is no IP, and went on untouched.
	Other Tally `json:"other"`
	// Malformed is IP that no router forwards, dropped before the first step.
	Malformed Tally `json:"malformed"`
	// Unwritten was dropped behind the last step, because the kernel had no memory to change
	// it in.
	Unwritten Tally       `json:"unwritten"`
	Steps     []StepState `json:"steps"`
}

// StepState is what one step counted, marked or dropped.
type StepState struct {
	// Function whose step it is, where packets go through those of several.
	Function string `json:"function,omitempty"`
	// Act is count, mark, dscp, drop, limit, rules, mirror or nat.
	Act string `json:"act"`
	Tally
	// Lost are the copies of a mirror that its tap did not take, and packets that a nat dropped
	// because they are of no connection, or would redirect one that is translated.
	Lost uint64 `json:"lost,omitempty"`
	// Full are packets that a nat dropped because no port was left for their connection.
	Full uint64 `json:"full,omitempty"`
	// CopyingS is the time that cores spent on a mirror's copies, as it is told by those that were timed.
	CopyingS float64 `json:"copying_s,omitempty"`
	// Buckets are those of a limit by flow or prefix, which has room for them with others beside it: what made room begins with a full one when it comes again.
	Buckets *TableState `json:"buckets,omitempty"`
}

// Tally is a number of packets, and of their bytes from the Ethernet header on. Segments
// that the kernel merged into one packet count as they do on a wire.
type Tally struct {
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
}

// passes reads what was counted at a node's interfaces. One that is not there is told as
// missing.
func passes(p *plan.Plan, n plan.Node, at resource.Place) (all []PassState, err error) {
	for _, r := range p.Resources {
		spec, is := r.Spec.(pass.Spec)
		if !is || r.Namespace != n.Namespace {
			continue
		}
		s, err := passAt(at, spec)
		if err != nil {
			return nil, err
		}
		if s != nil {
			all = append(all, *s)
		}
	}
	return all, nil
}

// passAt an interface, nil if it is missing.
func passAt(at resource.Place, spec pass.Spec) (*PassState, error) {
	c, found, err := pass.CountAt(at, spec.Device)
	if err != nil || !found {
		return nil, err
	}
	s := &PassState{Interface: spec.Device, Beside: spec.Beside, Came: Tally(c.Came), Other: Tally(c.Other), Malformed: Tally(c.Malformed), Unwritten: Tally(c.Unwritten), Steps: []StepState{}}
	var buckets map[uint32]pass.Buckets
	if slices.ContainsFunc(spec.Steps, pass.Step.HasBuckets) {
		if buckets, err = pass.BucketsAt(at, spec.Device); err != nil {
			return nil, err
		}
	}
	for i, step := range spec.Steps {
		if spec.Aside(step.Slot) {
			continue // it acts on the other way
		}
		state := StepState{Act: step.Act.String(), Tally: Tally(c.Slots[step.Slot]), Lost: c.Lost[step.Slot], Full: c.Full[step.Slot], CopyingS: c.Copying[step.Slot].Seconds()}
		if b, has := buckets[step.Slot]; has {
			state.Buckets = &TableState{Known: b.Held, Most: b.Most, Evicted: b.Evicted}
		}
		if i < len(spec.Of) {
			state.Function = spec.Of[i]
		}
		s.Steps = append(s.Steps, state)
	}
	return s, nil
}
