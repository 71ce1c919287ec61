package builtin

import (
	"context"
	"fmt"
	"sync"
	"time"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// limits are what generator and meter can do by themselves: from source to sink over
// one veth pair, with nothing between.
type limits struct {
	// ceiling is the highest rate, packets/s, with the source's core to itself: by the
	// CPU time that it took, since what else the machine does is no limit of the generator's.
	ceiling float64
	// floor is the smallest one-way latency, and jitter the 99th percentile above it, ns.
	floor, jitter float64
}

// limitShare of the ceiling above which the generator may be what limits a result.
const limitShare = 0.9

// judge marks a sample that the generator limited, and keeps the limits with it. A load
// that is not paced and loses nothing shows no limit of the chain. The ceiling is of one
// core: what goes both ways comes from two, or shares one.
func (l limits) judge(s *traffic.Sample, lanes []outcome) {
	s.Metrics["selftest_ceiling_pps"] = l.ceiling
	s.Metrics["selftest_floor_ns"] = l.floor
	s.Metrics["selftest_jitter_ns"] = l.jitter
	rate := busiest(lanes)
	atCeiling, all := rate > limitShare*l.ceiling, !lanes[0].Paced && s.Metrics["loss_ratio"] == 0
	s.Metrics["generator_limited"] = float64(flag(atCeiling || all))
	switch {
	case atCeiling:
		s.Warnings = append(s.Warnings, fmt.Sprintf("limited by the generator: %.0f packets/s came through of one core, and its own ceiling over one veth is %.0f", rate, l.ceiling))
	case all:
		s.Warnings = append(s.Warnings, fmt.Sprintf("limited by the generator: all of the %.0f packets/s that it could send here came through, and the chain may take more", s.Metrics["forwarding_rate_pps"]))
	}
}

// busiest is the most that came through of what one core sent, packets/s.
func busiest(lanes []outcome) (most float64) {
	of := map[int]float64{}
	for i := range lanes {
		core := lanes[i].Load.core
		of[core] += float64(lanes[i].Order.Arrivals) / lanes[i].seconds()
		most = max(most, of[core])
	}
	return most
}

// kind of load, for each of which the generator is tested once.
type kind struct {
	sizes        string
	ipv4, tagged bool
	flows, core  int
	by           [2]bool // ports, addresses
	way          way
}

var tested struct {
	sync.Mutex
	limits map[kind]limits
}

// selfTested gives the limits for a kind of load, which are found once a process.
func selfTested(ctx context.Context, l load) (limits, error) {
	k := kind{fmt.Sprint(l.sizes), l.to.Is4(), l.vlan > 0, l.flows, l.core, [2]bool{l.ports, l.addresses}, l.way}
	tested.Lock()
	defer tested.Unlock()
	if found, ok := tested.limits[k]; ok {
		return found, nil
	}
	found, err := selfTest(ctx, l)
	if err == nil {
		if tested.limits == nil {
			tested.limits = map[kind]limits{}
		}
		tested.limits[k] = found
	}
	return found, err
}

// How long the self-test offers each of its loads, and the rate of the slow one.
const (
	selfTestTime = 200 * time.Millisecond
	selfTestRate = 10_000
)

// selfTest sends from a source to a sink as fast as it goes, and then slowly.
func selfTest(ctx context.Context, l load) (found limits, err error) {
	bench, done, err := traffic.Workbench(l.to.Is4())
	if err != nil {
		return found, err
	}
	defer done()
	e := endsOf(bench)
	l.pace, l.steps, l.tag, l.drain = pace{}, steps{}, 0, drainLimit
	l.to, l.pattern, l.burst, l.duration, l.held = e.address, periodic, 1, selfTestTime, 0
	for _, pps := range []float64{0, selfTestRate} {
		l.pps = pps
		o, err := once(ctx, e, l)
		if err != nil {
			return found, err
		}
		s, err := sample([]outcome{o})
		switch {
		case err != nil:
			return found, err
		case pps == 0:
			found.ceiling = float64(o.Order.Arrivals) / max(o.busy.Seconds(), 1e-9)
		default:
			found.floor = s.Metrics["one_way_latency_min_ns"]
			found.jitter = s.Metrics["one_way_latency_p99_ns"] - found.floor
		}
	}
	return found, nil
}

// once runs a load over a lane of its own.
func once(ctx context.Context, e ends, l load) (none outcome, err error) {
	lanes, err := openLanes(e, l, trial.Condition{})
	defer closeLanes(lanes)
	if err != nil {
		return none, err
	}
	outcomes, err := runLanes(ctx, lanes)
	if err != nil {
		return none, err
	}
	return outcomes[0], nil
}
