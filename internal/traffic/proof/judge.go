package proof

import (
	"fmt"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/trial"
)

// Error says why a path is not proven.
type Error struct {
	// Protocol is trial.TCP or trial.UDP.
	Protocol string
	// Reason names the function at fault.
	Reason string
	// Sent is how many packets were to be sent each way.
	Sent int
	// Missed are the functions that did not see them all.
	Missed []Seen
}

// mostNamed functions that missed packets are named in an error.
const mostNamed = 6

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "proof of path failed for %s: %s", e.Protocol, e.Reason)
	for i, s := range e.Missed[:min(len(e.Missed), mostNamed)] {
		if i == 0 {
			fmt.Fprintf(&b, " (of %d marked packets there and back", e.Sent)
		}
		fmt.Fprintf(&b, ", %s passed %d and %d on", s.Function, s.Forward, s.Reverse)
	}
	if n := len(e.Missed) - mostNamed; n > 0 {
		fmt.Fprintf(&b, ", and %d more functions missed some", n)
	}
	if len(e.Missed) > 0 {
		b.WriteString(")")
	}
	return b.String()
}

func judge(p Path, taps []*tap, sent error) ([]Seen, error) {
	seen := make([]Seen, 0, len(taps))
	fail := &Error{Protocol: trial.UDP, Sent: rounds}
	if p.Protocol == trial.TCP {
		fail.Protocol = trial.TCP
	}
	var missed, unasked []string
	for _, t := range taps {
		s := Seen{t.function.Name, t.count(forward), t.count(reverse)}
		seen = append(seen, s)
		if p.Ways == nil && (s.Forward < rounds || s.Reverse < t.function.back()) {
			fail.Missed = append(fail.Missed, s)
			missed = append(missed, s.Function)
		}
		if t.function.OneWay && t.in.any(reverse) {
			unasked = append(unasked, s.Function)
		}
	}
	switch {
	case sent != nil:
		fail.Reason = sent.Error() + lost(taps)
	case len(missed) > 0:
		fail.Reason = "traffic does not pass " + strings.Join(missed[:min(len(missed), mostNamed)], ", ")
	case len(unasked) > 0:
		fail.Reason = "traffic to the client does not go past " + strings.Join(unasked[:min(len(unasked), mostNamed)], ", ")
	case p.Ways != nil:
		if fail.Reason = p.Ways.wrong(taps); fail.Reason == "" {
			return seen, nil
		}
	default:
		if at := disorder(taps); at != "" {
			fail.Reason = "traffic does not visit the functions in order: " + at
			break
		}
		return seen, nil
	}
	return seen, fail
}

// lost says where a packet that did not arrive was seen last.
func lost(all []*tap) string {
	taps := slices.DeleteFunc(slices.Clone(all), func(t *tap) bool { return t.function.Aside })
	for i, t := range taps {
		switch {
		case i == 0 && !t.in.any(forward):
			return "; no packet reaches " + t.function.Name
		case !t.in.any(forward):
			return fmt.Sprintf("; packets to the server leave %s and do not reach %s", taps[i-1].function.Name, t.function.Name)
		case !t.out.any(forward):
			return fmt.Sprintf("; packets to the server reach %s and do not leave it: it drops them", t.function.Name)
		}
	}
	taps = returning(taps)
	for i := len(taps) - 1; i >= 0; i-- {
		t := taps[i]
		switch {
		case !t.in.any(reverse) && i == len(taps)-1:
			return fmt.Sprintf("; packets to the server leave %s, and no answer reaches it", t.function.Name)
		case !t.in.any(reverse):
			return fmt.Sprintf("; packets to the client leave %s and do not reach %s", taps[i+1].function.Name, t.function.Name)
		case !t.out.any(reverse):
			return fmt.Sprintf("; packets to the client reach %s and do not leave it: it drops them", t.function.Name)
		}
	}
	return ""
}

// returning are the functions that packets visit on their way back.
func returning(all []*tap) []*tap {
	return slices.DeleteFunc(slices.Clone(all), func(t *tap) bool { return t.function.OneWay })
}

// disorder names the first pair of functions that some packet visited the wrong
// way round.
func disorder(taps []*tap) string {
	for n := range rounds {
		if at := disorderly(taps, n); at != "" {
			return at
		}
	}
	return ""
}

// disorderly is disorder for one packet, and the answer to it.
func disorderly(taps []*tap, n int) string {
	for i := 1; i < len(taps); i++ {
		if a, b := taps[i-1], taps[i]; a.in[forward][n].After(b.in[forward][n]) {
			return a.function.Name + ", " + b.function.Name
		}
	}
	back := returning(taps)
	for i := 1; i < len(back); i++ {
		if a, b := back[i-1], back[i]; b.in[reverse][n].After(a.in[reverse][n]) {
			return a.function.Name + ", " + b.function.Name
		}
	}
	return ""
}
