package run

import (
	"fmt"
	"strings"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Conditions that a load means for a chain: one for each protocol and path, the
// chain's first.
func Conditions(load api.Load, length int, factors map[string]any, tools []traffic.Tool, features feature.Set) ([]trial.Condition, error) {
	if d := time.Duration(load.Duration); d < time.Second || d%time.Second != 0 {
		return nil, fmt.Errorf("a duration of %v cannot be had: the traffic tools count whole seconds, 1s or more: %w", d, ErrInput)
	}
	paths := []string{trial.PathChain}
	if load.Direct != nil && *load.Direct && length > 2 {
		paths = append(paths, trial.PathDirect)
	}
	if err := useful(load, tools); err != nil {
		return nil, err
	}
	var out []trial.Condition
	for _, protocol := range load.Protocols {
		tool, err := choose(load.Tool, protocol, tools, features)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			c := trial.Condition{
				Path: path, Protocol: protocol, Tool: tool.Name(), Flows: load.Flows, PayloadSize: uint64(load.PayloadSize),
				OfferedBps: float64(load.Rate), Zerocopy: load.Zerocopy, Affinity: load.Affinity,
				DurationS: float64(load.Duration) / 1e9, Length: length, Factors: factors,
			}
			if c.Factors == nil {
				c.Factors = map[string]any{}
			}
			if path == trial.PathDirect {
				c.Length = 2
			}
			if protocol == trial.UDP {
				c.Zerocopy = false // sendfile is for streams
			}
			if protocol == trial.Latency {
				// One message at a time, whatever the bulk load is; its size counts only
				// where it can be meant for nothing else.
				c.Flows, c.Zerocopy, c.OfferedBps = 1, false, 0
				if len(load.Protocols) > 1 {
					c.PayloadSize = 0
				}
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// useful refuses a tool that measures nothing of what is asked for.
func useful(load api.Load, tools []traffic.Tool) error {
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
func choose(name, protocol string, tools []traffic.Tool, features feature.Set) (traffic.Tool, error) {
	var candidates, missing []string
	for _, pass := range []bool{true, false} {
		for _, t := range tools {
			if !measures(t, protocol) || pass != (t.Name() == name) {
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
	return nil, fmt.Errorf("no traffic tool of %v measures %s: %w", candidates, protocol, ErrInput)
}

func measures(t traffic.Tool, protocol string) bool {
	for _, p := range t.Protocols() {
		if p == protocol {
			return true
		}
	}
	return false
}
