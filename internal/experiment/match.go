package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// Matches tells whether a condition has all the values of where, by field name:
// a swept factor, or else one of the condition's own fields by its JSON name.
// Numbers are compared by value, whatever type YAML or JSON gave them, and sizes
// and rates by what they amount to (64KiB is 65536). A field that a condition
// does not have matches nothing.
func Matches(c trial.Condition, where map[string]any) bool {
	for field, want := range where {
		have, known := c.Factors[field]
		if !known {
			have, known = own(c)[field]
		}
		if !known || !same(field, have, want) {
			return false
		}
	}
	return true
}

// own are the fields of a condition that may be asked for without being swept.
func own(c trial.Condition) map[string]any {
	return map[string]any{
		"path": c.Path, "protocol": c.Protocol, "tool": c.Tool, "flows": c.Flows,
		"payload_size": c.PayloadSize, "rate": rateOf(c), "offered_bps": c.OfferedBps, "offered_pps": c.OfferedPps,
		"frame_size": c.FrameSize, "imix": c.IMIX, "pattern": c.Pattern, "burst": c.Burst,
		"bidirectional": c.Bidirectional, "ip_version": c.IPVersion, "vlan": c.VLAN, "flows_by": c.FlowsBy,
		"request_size": c.RequestSize, "response_size": c.ResponseSize, "busy_loop": c.BusyLoop,
		"url": c.URL, "request_rate": c.RequestRate,
		"zerocopy": c.Zerocopy, "affinity": c.Affinity, "length": c.Length,
		"active_chains": max(1, c.ActiveChains), "idle_containers": c.IdleContainers, "harm": c.Harm,
	}
}

// rateOf is the load offered, as a factor has it.
func rateOf(c trial.Condition) any {
	if c.OfferedPps > 0 {
		return api.LoadRate{Frames: uint64(c.OfferedPps)}.String()
	}
	return c.OfferedBps
}

// same compares two values of a field.
func same(field string, a, b any) bool { return canonical(field, a) == canonical(field, b) }

// canonical is one comparable form for all ways to write a value.
func canonical(field string, v any) any {
	if f, is := number(v); is {
		return f
	}
	if s, is := v.(string); is {
		return canonicalText(field, s)
	}
	if b, is := v.(bool); is {
		return b
	}
	return fmt.Sprint(v)
}

// canonicalText is a size in bytes, a rate in bit/s or in frames by its one text.
func canonicalText(field, s string) any {
	switch field {
	case "payload_size", "request_size", "response_size":
		if n, err := parseSize(s); err == nil {
			return float64(n)
		}
	case "rate":
		if r, err := api.ParseLoadRate(s); err == nil && r.Frames > 0 {
			return r.String()
		} else if err == nil {
			return float64(r.Bits)
		}
	}
	return s
}

// Describe writes factor values as "flows=8 length=3", in alphabetical order.
func Describe(where map[string]any) string {
	words := make([]string, 0, len(where))
	for _, field := range slices.Sorted(maps.Keys(where)) {
		value, err := text(where[field])
		if err != nil {
			value = fmt.Sprint(where[field])
		}
		words = append(words, field+"="+value)
	}
	if len(words) == 0 {
		return "the only condition"
	}
	return strings.Join(words, " ")
}

// lengthOf is the number of namespaces of a condition, both ends included.
func lengthOf(c trial.Condition) int {
	if f, is := number(c.Factors["length"]); is {
		return int(f)
	}
	return c.Length
}

// matching lists the indices of a run's conditions that match. Where path is not
// asked for, chains are meant; the direct path stands for one only where it is
// as long and no chain matches.
func matching(run trial.Run, where map[string]any) []int {
	var chains, direct []int
	_, asked := where["path"]
	for i, c := range run.Conditions {
		switch {
		case !Selects(c, where):
		case asked || c.Path != trial.PathDirect:
			chains = append(chains, i)
		case lengthOf(c) == c.Length:
			direct = append(direct, i)
		}
	}
	if len(chains) == 0 {
		return direct
	}
	return chains
}
