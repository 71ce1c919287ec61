package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// field is one thing held fixed during a trial.
type field struct {
	name string // as the JSON has it
	head string // as a table has it
	text func(trial.Condition) string
	// always has a column, also where it never varies.
	always bool
	// words is the field within a sentence; empty where it goes without saying.
	words func(trial.Condition) string
}

// fields are the condition's, in the order of a table's columns.
var fields = []field{
	{"path", "path", func(c trial.Condition) string { return c.Path }, true, func(c trial.Condition) string { return c.Path }},
	{"protocol", "protocol", func(c trial.Condition) string { return c.Protocol }, true, protocolWords},
	{"tool", "tool", func(c trial.Condition) string { return c.Tool }, false, func(c trial.Condition) string { return c.Tool }},
	{"flows", "flows", func(c trial.Condition) string { return strconv.Itoa(c.Flows) }, true, flowsWords},
	{"payload_size", "payload", payloadText, false, payloadText},
	{"offered_bps", "offered", offeredText, false, offeredWords},
	{"zerocopy", "zerocopy", func(c trial.Condition) string { return yesNo(c.Zerocopy) }, false, zerocopyWords},
	{"affinity", "affinity", affinityText, false, func(c trial.Condition) string { return "affinity " + affinityText(c) }},
	{"length", "length", func(c trial.Condition) string { return strconv.Itoa(c.Length) }, true,
		func(c trial.Condition) string { return fmt.Sprintf("length %d", c.Length) }},
	{"duration_s", "duration", func(c trial.Condition) string { return secondsText(c.DurationS) }, false,
		func(c trial.Condition) string { return secondsText(c.DurationS) }},
}

func secondsText(seconds float64) string { return strconv.FormatFloat(seconds, 'f', -1, 64) + " s" }

func protocolWords(c trial.Condition) string {
	if c.Protocol == trial.Latency {
		return c.Protocol
	}
	return strings.ToUpper(c.Protocol)
}

func flowsWords(c trial.Condition) string {
	if c.Flows == 1 {
		return "1 flow"
	}
	return fmt.Sprintf("%d flows", c.Flows)
}

func payloadText(c trial.Condition) string {
	if c.PayloadSize == 0 {
		return "tool's own"
	}
	return api.Size(c.PayloadSize).String()
}

func offeredText(c trial.Condition) string {
	if c.OfferedBps == 0 {
		return "unlimited"
	}
	return printed("offered_bps", c.OfferedBps)
}

func offeredWords(c trial.Condition) string { return offeredText(c) + " offered" }

func zerocopyWords(c trial.Condition) string {
	if c.Zerocopy {
		return "zerocopy"
	}
	return "no zerocopy"
}

func affinityText(c trial.Condition) string {
	if c.Affinity == "" {
		return "none"
	}
	return c.Affinity
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// extraFactors are swept factors that no field of a condition shows.
func extraFactors(conditions []trial.Summary) (names []string) {
	for _, c := range conditions {
		for name := range c.Factors {
			if !isField(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func isField(name string) bool {
	return name == "rate" || name == "duration" || slices.ContainsFunc(fields, func(f field) bool { return f.name == name })
}

// factorText is a factor's value in one form for every type it may have.
func factorText(v any) string {
	if v == nil {
		return ""
	}
	if s, is := v.(string); is {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// varying are the fields in which conditions differ.
func varying(conditions []trial.Summary) (out []field) {
	for _, f := range fields {
		for _, c := range conditions {
			if f.text(c.Condition) != f.text(conditions[0].Condition) {
				out = append(out, f)
				break
			}
		}
	}
	return out
}
