package pass

import (
	"fmt"
	"math/bits"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// Words implements resource.Worded: the steps, each behind the name of its function, and each rule by itself.
func (s Spec) Words() (lines []string) {
	for i, step := range s.Steps {
		of := s.whoseStep(i)
		for _, text := range s.stepWords(step) {
			lines = append(lines, of+text)
		}
	}
	if s.Flows != 0 {
		lines = append(lines, fmt.Sprintf("buckets for %d flows", s.Flows))
	}
	if s.Connections != 0 {
		lines = append(lines, fmt.Sprintf("%d connections known at once", s.Connections))
	}
	for _, device := range s.Beside {
		lines = append(lines, "also at "+device)
	}
	return lines
}

// whoseStep is the name of the function whose step it is, if it has one.
func (s Spec) whoseStep(i int) string {
	if i >= len(s.Of) {
		return ""
	}
	return s.Of[i] + ": "
}

// stepWords are what a step does, of a firewall or a NAT its rules.
func (s Spec) stepWords(step Step) []string {
	switch step.Act {
	case Rules:
		for _, f := range s.Firewalls {
			if f.Slot == step.Slot {
				return f.ruleWords()
			}
		}
	case Translate:
		for _, n := range s.NATs {
			if n.Slot == step.Slot {
				return n.ruleWords()
			}
		}
	case Mirror:
		return []string{step.mirrorWords(s)}
	}
	return []string{step.told()}
}

func (f Firewall) ruleWords() []string {
	first := "policy " + f.Policy
	if f.Aside {
		first += ", lets this way pass"
	}
	lines := []string{first}
	for _, r := range f.Rules {
		lines = append(lines, r.Text())
	}
	return lines
}

func (n NAT) ruleWords() []string {
	var lines []string
	if n.Answers {
		lines = append(lines, "of answers")
	}
	for _, r := range n.Rules {
		lines = append(lines, r.text())
	}
	return lines
}

// text of a rule, for people.
func (r Translation) text() string {
	var targets []string
	for _, t := range r.Targets {
		target := t.Address.String()
		if t.Weight > 1 {
			target += fmt.Sprintf(" (weight %d)", t.Weight)
		}
		targets = append(targets, target)
	}
	if r.Source {
		return "from " + strings.Join(targets, ", ")
	}
	text := r.Service() + " to " + strings.Join(targets, ", ")
	if r.Port != 0 {
		text += fmt.Sprintf(" port %d", r.Port)
	}
	if r.ByHash {
		text += " by hash"
	}
	return text
}

// told is what a step does by its arguments.
func (s Step) told() string {
	switch s.Act {
	case Mark:
		return fmt.Sprintf("mark %#x of the bits %#x", uint32(s.Args[0]), uint32(s.Args[0]>>32))
	case DSCP:
		return fmt.Sprintf("dscp %d", s.Args[0])
	case Drop:
		if s.Args[0] != 0 {
			return fmt.Sprintf("drop one of %d", s.Args[0])
		}
		return fmt.Sprintf("drop %.6g %%, by dice %d", 100*float64(s.Args[1])/(1<<53), s.Args[2])
	case Limit:
		return s.limitWords()
	}
	return s.Act.String()
}

// limitWords are a bucket's rate, to six digits, and its burst, which follow from how long a byte takes.
func (s Step) limitWords() string {
	factor, shift := uint64(uint32(s.Args[0])), uint(s.Args[0]>>32)
	rate := 8 * float64(ticks) * float64(uint64(1)<<shift) / float64(factor)
	high, low := bits.Mul64(s.Args[1], 1<<shift)
	burst, left := bits.Div64(high, low, factor)
	if left > 0 {
		burst++ // what is less than a tick was left out
	}
	text := fmt.Sprintf("limit %.6g Mbit/s, burst %v", rate/1e6, api.Size(burst))
	switch per := Per(s.Args[2]); per {
	case Flow:
		text += " per flow"
	case Source, Destination:
		text += fmt.Sprintf(" per %s, /%d and /%d", map[Per]string{Source: "source", Destination: "destination"}[per], uint8(s.Args[2]>>8), uint8(s.Args[2]>>16))
	}
	return text
}

// mirrorWords are what a mirror copies, and where to.
func (s Step) mirrorWords(of Spec) string {
	text := "mirror"
	if every := s.Args[0] >> 32; every > 1 {
		text += fmt.Sprintf(" one of %d", every)
	}
	if version := s.version(); version != 0 {
		text += fmt.Sprintf(" IPv%d", version)
	}
	if protocol := uint8(s.Args[1] >> 24); protocol != 0 {
		text += fmt.Sprintf(" protocol %d", protocol)
	}
	if port := bits.ReverseBytes16(uint16(s.Args[1])); port != 0 {
		text += fmt.Sprintf(" port %d", port)
	}
	if tap := int(s.tap()); tap < len(of.Taps) {
		text += of.Copied[of.Taps[tap]].masked().words(s.version()) + " to " + of.Taps[tap]
	}
	return text
}
