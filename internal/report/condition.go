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
	// raw is the value for a program to read, empty where it is not set.
	raw func(trial.Condition) string
}

// fields are the condition's, in the order of a table's columns.
var fields = slices.Concat([]field{
	{"path", "path", pathText, true, pathText, pathText},
	{"protocol", "protocol", protocolText, true, protocolWords, protocolText},
	{"tool", "tool", toolText, false, toolText, toolText},
	{"flows", "flows", flowsText, true, flowsWords, flowsText},
	{"payload_size", "payload", payloadText, false, payloadText, func(c trial.Condition) string { return rawUnlessZero(float64(c.PayloadSize)) }},
	{"offered_bps", "offered", offeredText, false, offeredWords, func(c trial.Condition) string { return rawUnlessZero(c.OfferedBps) }},
	// The one before shows this one too.
	{"offered_pps", "offered", silent, false, silent, func(c trial.Condition) string { return rawUnlessZero(c.OfferedPps) }},
	{"zerocopy", "zerocopy", func(c trial.Condition) string { return yesNo(c.Zerocopy) }, false, zerocopyWords,
		func(c trial.Condition) string { return strconv.FormatBool(c.Zerocopy) }},
	{"affinity", "affinity", affinityText, false, func(c trial.Condition) string { return "affinity " + affinityText(c) },
		func(c trial.Condition) string { return c.Affinity }},
	{"length", "length", lengthText, true, func(c trial.Condition) string { return "length " + lengthText(c) },
		func(c trial.Condition) string { return strconv.Itoa(c.Length) }},
	{"duration_s", "duration", durationText, false, durationText, func(c trial.Condition) string { return raw(c.DurationS) }},
}, frameFields, messageFields, webFields, besideFields, []field{
	{"instances", "instances", instancesText, false, instancesWords, instancesText},
})

func pathText(c trial.Condition) string     { return c.Path }
func protocolText(c trial.Condition) string { return c.Protocol }
func toolText(c trial.Condition) string     { return c.Tool }
func flowsText(c trial.Condition) string    { return strconv.Itoa(c.Flows) }

// lengthText is the length of the path; of a direct path that was asked for, 2 of those that
// the chain has, past which it leads.
func lengthText(c trial.Condition) string {
	text := strconv.Itoa(c.Length)
	length, swept := c.Factors["length"]
	if _, asked := c.Factors["path"]; asked && swept && c.Path == trial.PathDirect {
		text += fmt.Sprintf(" of %v", length)
	}
	return text
}

// durationText of a search is empty: each of its trials has a duration of its own.
func durationText(c trial.Condition) string {
	if c.Search != nil {
		return "searched"
	}
	return secondsText(c.DurationS)
}

// instancesText has those of the chain on which a condition is measured; empty for all.
func instancesText(c trial.Condition) string {
	texts := make([]string, len(c.Instances))
	for i, n := range c.Instances {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

func instancesWords(c trial.Condition) string {
	if len(c.Instances) == 0 {
		return ""
	}
	return "on instances " + instancesText(c)
}

func silent(trial.Condition) string { return "" }

// rawUnlessZero is empty for what is not set.
func rawUnlessZero(v float64) string {
	if v == 0 {
		return ""
	}
	return raw(v)
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
	switch {
	case c.Search != nil:
		return "searched by " + c.Search.Method
	case c.OfferedPps > 0:
		return printed("offered_pps", c.OfferedPps)
	case c.RequestRate > 0:
		return fmt.Sprintf("%d requests/s", c.RequestRate)
	case c.OfferedBps == 0:
		return "unlimited"
	}
	return printed("offered_bps", c.OfferedBps)
}

func offeredWords(c trial.Condition) string {
	if c.Search != nil {
		return c.Search.Method
	}
	return offeredText(c) + " offered"
}

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
		names = appendExtra(names, c.Factors)
	}
	slices.Sort(names)
	return names
}

// appendExtra adds those of some factors that no field shows, each once.
func appendExtra(names []string, factors map[string]any) []string {
	for name := range factors {
		if !isField(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func isField(name string) bool {
	name = strings.TrimPrefix(name, "load.")
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
		if varies(f, conditions) {
			out = append(out, f)
		}
	}
	return out
}

func varies(f field, conditions []trial.Summary) bool {
	return slices.ContainsFunc(conditions, func(c trial.Summary) bool { return f.text(c.Condition) != f.text(conditions[0].Condition) })
}
