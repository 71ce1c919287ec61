package trace

import (
	"fmt"
	"io"
	"strings"

	"nfchain.dev/nfchain/internal/words"
)

// Text writes the explanation for a terminal: the flow's way, a line for each hop, what
// became of it, and why.
func (e Explanation) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, chain %s, wiring %s: %s sent\n", e.Flow, e.Chain, e.Wiring, words.Plural(int(e.Sent), "packet"))
	if e.Path != "" {
		fmt.Fprintf(&b, "%s\n", e.Path)
	}
	for _, rule := range e.Unmet {
		fmt.Fprintf(&b, "- %s\n", rule)
	}
	b.WriteString("\n")
	t := words.NewTable()
	t.Row("HOP", "KIND", "IN", "OUT", "DROPPED")
	for _, s := range e.Hops {
		if dropped := own(s.Drops); s.Kind != wiringKind || dropped > 0 {
			t.Row(s.Name, s.Kind, amount(Amount{Packets: s.In}), amount(Amount{Packets: s.Out}), amount(Amount{Packets: dropped}))
		}
	}
	b.WriteString(t.String() + "\n" + e.Verdict + "\n")
	for _, s := range e.Hops {
		if s.Of != "" && s.Name != s.Of {
			fmt.Fprintf(&b, "- %s has this flow, of %s of %s\n", s.Name, words.Plural(s.Replicas, "replica"), s.Of)
		}
	}
	if len(e.Aside) > 0 {
		fmt.Fprintf(&b, "- on other ways, where none of it was seen: %s\n", strings.Join(e.Aside, ", "))
	}
	if len(e.Past) > 0 {
		fmt.Fprintf(&b, "- packets of this direction go past %s, by which the chain is one-way\n", strings.Join(e.Past, ", "))
	}
	for _, reason := range append(e.Reasons, e.Warnings...) {
		fmt.Fprintf(&b, "- %s\n", reason)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
