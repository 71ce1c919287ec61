package run

import (
	"fmt"
	"slices"
	"strings"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/search"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Conditions that a load means for a chain: one for each protocol and path, the
// chain's first.
func Conditions(load api.Load, length int, factors map[string]any, tools []traffic.Tool, features feature.Set) ([]trial.Condition, error) {
	instances, err := api.ParseInstances(load.Instances)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrInput)
	}
	if d := time.Duration(load.Duration); load.Search == nil && (d < time.Second || d%time.Second != 0) {
		return nil, fmt.Errorf("a duration of %v cannot be had: the traffic tools count whole seconds, 1s or more: %w", d, ErrInput)
	}
	paths := pathsOf(load, length)
	if err := useful(load, tools); err != nil {
		return nil, err
	}
	var out []trial.Condition
	for _, protocol := range load.Protocols {
		tool, err := choose(load, protocol, tools, features)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			c := condition(load, protocol, len(load.Protocols) > 1)
			c.Path, c.Tool, c.Length, c.Factors, c.Instances = path, tool.Name(), length, factors, instances
			if c.Factors == nil {
				c.Factors = map[string]any{}
			}
			if path == trial.PathDirect {
				c.Length = 2
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// pathsOf a load are those that it is measured over. A chain of two ends is the direct path
// already.
func pathsOf(load api.Load, length int) []string {
	switch {
	case length <= 2:
		return []string{trial.PathChain}
	case load.Path == trial.PathDirect:
		return []string{trial.PathDirect}
	case load.Direct != nil && *load.Direct:
		return []string{trial.PathChain, trial.PathDirect}
	}
	return []string{trial.PathChain}
}

// condition is what a load means for one protocol, perhaps among others.
func condition(load api.Load, protocol string, among bool) trial.Condition {
	c := trial.Condition{
		Protocol: protocol, Flows: load.Flows, PayloadSize: uint64(load.PayloadSize),
		OfferedBps: float64(load.Rate.Bits), OfferedPps: float64(load.Rate.Frames), Frames: trial.Frames(load.Frames),
		Messages: trial.Messages{RequestSize: uint64(load.RequestSize), ResponseSize: uint64(load.ResponseSize), BusyLoop: load.BusyLoop},
		Web:      trial.Web(load.Web),
		Beside:   trial.Beside{IdleContainers: load.IdleContainers, Harm: load.Harm},
		Zerocopy: load.Zerocopy, Affinity: load.Affinity, DurationS: float64(load.Duration) / 1e9,
	}
	if load.ActiveChains > 1 {
		c.ActiveChains = load.ActiveChains
	}
	if load.Search != nil && protocol == trial.UDP {
		s := search.Spec(*load.Search)
		c.Search, c.DurationS = &s, 0 // each trial has a duration of its own
	}
	if protocol != trial.UDP {
		c.Frames, c.OfferedPps = trial.Frames{}, 0
	}
	if !transacts(protocol) && protocol != trial.HTTP {
		c.Messages = trial.Messages{}
	}
	if !api.Asks(c.URL, protocol) {
		c.URL = ""
	}
	if protocol != trial.HTTP {
		c.RequestRate = paced(load, protocol)
	}
	switch protocol {
	case trial.UDP:
		c.Zerocopy = false // sendfile is for streams
	case trial.TCPRR, trial.UDPRR, trial.TCPCRR:
		// As many as there can be, of messages that have sizes of their own.
		c.PayloadSize, c.OfferedBps, c.Zerocopy = 0, 0, false
		if c.URL != "" {
			c.ResponseSize = c.RequestSize // it gives back what it gets
		}
	case trial.HTTP:
		c.PayloadSize, c.OfferedBps, c.Zerocopy, c.RequestSize, c.BusyLoop = 0, 0, false, 0, false
		if c.URL != "" {
			c.ResponseSize = 0 // the server's
		}
	case trial.RFC6349:
		c.Zerocopy = false // the kernel tells of writes
	case trial.Latency:
		// One message at a time, whatever the bulk load is; its size counts only
		// where it can be meant for nothing else.
		c.Flows, c.Zerocopy, c.OfferedBps = 1, false, 0
		if among {
			c.PayloadSize = 0
		}
	}
	return c
}

// paced is how many requests a second are sent whose latency is taken; 0 for as many as the tool sends by itself. Beside http the
// rate is that one's.
func paced(load api.Load, protocol string) int {
	if protocol != trial.Latency || slices.Contains(load.Protocols, trial.HTTP) {
		return 0
	}
	return load.RequestRate
}

// transacts tells whether a protocol sends requests and waits for responses.
func transacts(protocol string) bool {
	return protocol == trial.TCPRR || protocol == trial.UDPRR || protocol == trial.TCPCRR
}

// NeedsFrames tells whether only a tool that makes its own frames offers a load.
func NeedsFrames(l api.Load) bool {
	return l.Frames != api.Frames{} || l.Rate.Frames > 0 || l.Search != nil
}

// useful refuses a load that nothing of what is asked for can be measured under.
func useful(load api.Load, tools []traffic.Tool) error {
	if NeedsFrames(load) && !slices.Contains(load.Protocols, trial.UDP) {
		return fmt.Errorf("frames, rates in frames and searches are for udp, not over %s: %w", strings.Join(load.Protocols, ", "), ErrInput)
	}
	for _, t := range tools {
		if t.Name() != load.Tool {
			continue
		}
		for _, p := range load.Protocols {
			if measures(t, p) {
				return nil
			}
		}
		return fmt.Errorf("%s does not measure %s, only %s: %w", load.Tool, strings.Join(load.Protocols, ", "), strings.Join(t.Protocols(), ", "), ErrInput)
	}
	return nil
}

// choose the tool that was asked for, or the first that measures the protocol and
// is installed. A tool that is asked for by name is used for the protocols it has;
// others are left to auto, so that `--traffic iperf3` with latency still works.
func choose(load api.Load, protocol string, tools []traffic.Tool, features feature.Set) (traffic.Tool, error) {
	var candidates, missing []string
	var unsuited error
	name := load.Tool
	for _, pass := range []bool{true, false} {
		for _, t := range tools {
			if !measures(t, protocol) || pass != (t.Name() == name) {
				continue
			}
			if err := suits(t, load, protocol); err != nil {
				if t.Name() == name {
					return nil, err
				}
				if _, nearer := t.(traffic.Pacer); nearer || unsuited == nil {
					unsuited = err // else the first: tools are in order of preference
				}
				continue
			}
			if err := features.Missing(t.Requires()...); err != nil {
				if t.Name() == name {
					return nil, err
				}
				missing = append(missing, t.Requires()...)
				continue
			}
			return t, nil
		}
	}
	if len(missing) > 0 {
		return nil, features.Missing(missing...)
	}
	for _, t := range tools {
		candidates = append(candidates, t.Name())
	}
	if unsuited != nil {
		return nil, fmt.Errorf("no traffic tool of %v offers this load: %w", candidates, unsuited)
	}
	return nil, fmt.Errorf("no traffic tool of %v measures %s: %w", candidates, protocol, ErrInput)
}

// suits refuses what a tool cannot offer of a load.
func suits(t traffic.Tool, load api.Load, protocol string) error {
	if protocol == trial.UDP && NeedsFrames(load) && !makesFrames(t) {
		return fmt.Errorf("%s does not make frames of its own: frame_size, imix, pattern, burst, bidirectional, ip_version, vlan, flows_by and rates in frames and searches are for tools that do: %w", t.Name(), ErrInput)
	}
	if rate := paced(load, protocol); rate > 0 {
		pacer, is := t.(traffic.Pacer)
		if !is {
			return fmt.Errorf("%s sends its messages at a rate of its own: a request rate of latency is for tools that are told one, as ping and fping: %w", t.Name(), ErrInput)
		}
		if err := pacer.Paces(rate); err != nil {
			return fmt.Errorf("request rate of %s: %w: %w", t.Name(), err, ErrInput)
		}
	}
	if most := traffic.FlowsOf(t); load.Flows > most && protocol != trial.Latency {
		return fmt.Errorf("%s has at most %d flows, not %d: %w", t.Name(), most, load.Flows, ErrInput)
	}
	return nil
}

func makesFrames(t traffic.Tool) bool {
	_, does := t.(traffic.Framer)
	return does
}

func measures(t traffic.Tool, protocol string) bool { return slices.Contains(t.Protocols(), protocol) }
