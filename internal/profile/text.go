package profile

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/words"
)

// How much of a report a terminal is shown; JSON has all of it.
const (
	shownFunctions = 15
	shownOfCore    = 5
	shownCores     = 8
)

// Text writes a report for a terminal: where the time went by hop, by function, and
// core by core.
func (r Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "chain %s, wiring %s: %s, %.3g s sampled at %d Hz (%s), %d samples, %d of them busy\n",
		r.Chain, r.Wiring, r.Load(), r.DurationS, r.FrequencyHz, r.Clock, r.Samples, r.Busy)
	r.hopTable(&b)
	b.WriteString("\nfunctions of the busy samples, all cores\n")
	functionTable(&b, r.All, shownFunctions)
	r.coreTables(&b)
	if r.Overhead != nil {
		b.WriteString("\n" + r.Overhead.text() + "\n")
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "- %s\n", warning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Report) hopTable(b *strings.Builder) {
	t := words.NewTable()
	b.WriteString("\n")
	t.Row("HOP", "BUSY", "95%", "IN SOFTIRQ", "MOST IN")
	for _, h := range r.Hops {
		most, softirq := "", "-"
		if len(h.Functions) > 0 {
			most = h.Functions[0].Name
		}
		if h.Samples > 0 {
			softirq = fmt.Sprintf("%.0f%%", 100*float64(h.Softirq)/float64(h.Samples))
		}
		t.Row(h.Name, percent(h.Ratio), interval(h.Share), softirq, most)
	}
	b.WriteString(t.String())
}

func functionTable(b *strings.Builder, all []Function, most int) {
	t := words.NewTable()
	t.Row("FUNCTION", "SELF", "95%", "TOTAL", "95%")
	for _, f := range all[:min(most, len(all))] {
		name := f.Name
		if !f.Kernel {
			name += " (user)"
		}
		t.Row(name, percent(f.Self.Ratio), interval(f.Self), percent(f.Total.Ratio), interval(f.Total))
	}
	b.WriteString(t.String())
}

// coreTables show the busiest cores, in their order.
func (r Report) coreTables(b *strings.Builder) {
	cores := slices.Clone(r.Cores)
	slices.SortStableFunc(cores, func(a, b Core) int { return cmp.Compare(b.Busy.Samples, a.Busy.Samples) })
	left := len(cores) - min(shownCores, len(cores))
	cores = cores[:len(cores)-left]
	slices.SortFunc(cores, func(a, b Core) int { return cmp.Compare(a.CPU, b.CPU) })
	for _, c := range cores {
		fmt.Fprintf(b, "\ncore %d: busy %s (%s)\n", c.CPU, percent(c.Busy.Ratio), interval(c.Busy))
		if c.Busy.Samples > 0 {
			functionTable(b, c.Functions, shownOfCore)
		}
	}
	if left > 0 {
		fmt.Fprintf(b, "\n%d cores were less busy; -o json has them\n", left)
	}
}

func percent(x float64) string { return fmt.Sprintf("%.1f%%", 100*x) }

func interval(s Share) string { return fmt.Sprintf("%.1f to %.1f%%", 100*s.CI95[0], 100*s.CI95[1]) }

func (o Overhead) text() string {
	text := fmt.Sprintf("cost of sampling: %s with it is %.1f%% of that without, by %s of trials", o.Metric, 100*o.Ratio, words.Plural(o.Pairs, "pair"))
	if o.CI95 != nil {
		text += fmt.Sprintf(" (95%%: %.1f to %.1f%%)", 100*o.CI95[0], 100*o.CI95[1])
	}
	return text
}

// Folded writes one line for each stack: hop, process and functions from the outermost
// on with semicolons between, and the count, all cores together. Idle cores are left out.
func (s Samples) Folded(w io.Writer) error {
	out := bufio.NewWriter(w)
	last, n := "", 0
	flush := func() {
		if n > 0 {
			_, _ = fmt.Fprintf(out, "%s %d\n", last, n) // Flush tells
		}
		n = 0
	}
	for _, st := range s.Stacks {
		if st.Hop == Idle {
			continue
		}
		line := st.folded()
		if line != last {
			flush()
		}
		last = line
		n += st.Count
	}
	flush()
	return out.Flush()
}

func (st Stack) folded() string {
	words := st.words()
	for i, w := range words {
		words[i] = strings.NewReplacer(";", ":", "\n", " ").Replace(w)
	}
	return strings.Join(words, ";")
}
