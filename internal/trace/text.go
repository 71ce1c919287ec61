package trace

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"nfchain.dev/nfchain/internal/words"
)

// Text writes what was seen for a terminal: a line for each hop, and what became of
// the packets that were sent.
func (r Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "chain %s, wiring %s, looked at for %.3g s\n", r.Chain, r.Wiring, r.DurationS)
	if r.Path != "" {
		fmt.Fprintf(&b, "%s\n", r.Path)
	}
	b.WriteString("\n")
	t := words.NewTable()
	t.Row(r.head()...)
	for i := range r.Hops {
		t.Row(r.row(r.Hops[i])...)
	}
	b.WriteString(t.String())
	for _, d := range r.Elsewhere {
		fmt.Fprintf(&b, "\noutside the chain: %s\n", dropText(d, true))
	}
	for _, tap := range r.Taps {
		fmt.Fprintf(&b, "\ntap %s: %s of softirqs on copies\n", tap.Name, seconds(tap.SoftirqS))
	}
	if r.Own != nil {
		b.WriteString("\n" + r.Own.text() + "\n")
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "- %s\n", warning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Report) head() []string {
	head := []string{"HOP"}
	if r.Own != nil {
		head = append(head, "IN", "OUT", "TIME TO IT")
	}
	head = append(head, "ALL IN", "ALL OUT")
	if r.timed() {
		head = append(head, "SOFTIRQ")
	}
	if r.counts() {
		head = append(head, "COUNTED")
	}
	head = append(head, "DROPPED")
	if r.countsDrops() {
		head = append(head, "DROPPED BY")
	}
	return head
}

// counts tells whether functions counted what went on.
func (r Report) counts() bool {
	return slices.ContainsFunc(r.Hops, func(h Hop) bool { return len(h.counted()) > 0 })
}

// countsDrops tells whether they counted what they dropped.
func (r Report) countsDrops() bool {
	return slices.ContainsFunc(r.Hops, func(h Hop) bool { return len(h.countedDrops()) > 0 })
}

// timed tells whether softirqs were.
func (r Report) timed() bool { return len(r.Hops) > 0 && r.Hops[0].SoftirqS != nil }

func (r Report) row(h Hop) []string {
	row := []string{h.Name}
	if r.Own != nil {
		row = append(row, amount(h.OwnIn), amount(h.OwnOut), h.median())
	}
	row = append(row, amount(h.In), amount(h.Out))
	if r.timed() {
		row = append(row, seconds(*h.SoftirqS))
	}
	if r.counts() {
		row = append(row, strings.Join(h.counted(), "; "))
	}
	var drops []string
	for _, d := range h.Drops {
		drops = append(drops, dropText(d, r.Own != nil))
	}
	return append(row, strings.Join(drops, "; "), strings.Join(h.countedDrops(), "; "))
}

// counted are texts of what functions counted that went on.
func (h Hop) counted() (all []string) {
	for _, rule := range h.Rules {
		if !rule.dropped() {
			all = append(all, rule.text())
		}
	}
	for _, s := range h.Steps {
		if !s.dropped() {
			all = append(all, s.text())
		}
	}
	return all
}

// countedDrops are texts of what functions counted that they dropped, which the kernel's causes have once more.
func (h Hop) countedDrops() (all []string) {
	told := map[string]bool{}
	for _, s := range h.Steps {
		if s.dropped() && !told[s.Function] {
			told[s.Function] = true
			all = append(all, h.droppedBy(s.Function))
		}
	}
	for _, rule := range h.Rules {
		if rule.dropped() && !told[rule.Function] {
			all = append(all, rule.text())
		}
	}
	return all
}

// droppedBy a function without a namespace is what it counted each way, and of that what its rules and its policy decided.
func (h Hop) droppedBy(function string) string {
	var ways, rules []string
	for _, s := range h.Steps {
		if s.dropped() && s.Function == function {
			ways = append(ways, s.text())
		}
	}
	for _, rule := range h.Rules {
		if rule.dropped() && rule.Function == function {
			rule.Function = "" // it is said before
			rules = append(rules, rule.text())
		}
	}
	text := strings.Join(ways, ", ")
	if len(rules) > 0 {
		text += ": " + strings.Join(rules, ", ")
	}
	return text
}

func amount(a Amount) string {
	if a.Packets == 0 {
		return "-"
	}
	return fmt.Sprint(a.Packets)
}

// median time to a hop: until packets came in, and at the first until they went out.
func (h Hop) median() string {
	t := h.TimeIn
	if t == nil {
		t = h.TimeOut
	}
	if t == nil {
		return "-"
	}
	return seconds(float64(t.MedianNS) / 1e9)
}

// seconds with the unit that suits their number, as reports have it.
func seconds(s float64) string {
	if s >= 60 {
		return fmt.Sprintf("%.1f s", s)
	}
	text := time.Duration(s * 1e9).Round(10 * time.Nanosecond).String()
	unit := strings.IndexFunc(text, unicode.IsLetter)
	return text[:unit] + " " + text[unit:]
}

// dropText is "50 NETFILTER_DROP at eth0, 3 of others".
func dropText(d Drop, own bool) string {
	var parts []string
	if d.Function {
		return fmt.Sprintf("%d %s, by the function itself", d.Others.Packets, d.Cause)
	}
	if own && d.Own.Packets > 0 {
		parts = append(parts, fmt.Sprint(d.Own.Packets))
	}
	if d.Others.Packets > 0 {
		n := fmt.Sprint(d.Others.Packets)
		if own {
			n += " of others"
		}
		parts = append(parts, n)
	}
	text := strings.Join(parts, " and ") + " " + d.Cause
	if d.Interface != "" {
		text += " at " + d.Interface
	}
	if d.At != "" {
		text += " in " + d.At
	}
	if d.Copy {
		text += " (copies)"
	}
	return text
}

func (s StepCount) text() string {
	text := fmt.Sprintf("%s %s %d", s.Function, s.Did, s.Packets)
	if s.Why != "" {
		text = fmt.Sprintf("%s gave %d back that were %s, %s", s.Function, s.Packets, s.Did, s.Why)
	}
	if s.Direction != "" {
		text += " (" + s.Direction + ")"
	}
	return text
}

func (c RuleCount) text() string {
	text := fmt.Sprintf("rule %d matched %d", c.Rule, c.Packets)
	switch {
	case c.Rule == 0 && c.Function != "":
		text = fmt.Sprintf("the policy of %s dropped %d", c.Function, c.Packets)
	case c.Rule == 0:
		text = fmt.Sprintf("its policy dropped %d", c.Packets)
	case c.Function != "":
		text = c.Function + ": " + text
	}
	if c.Comment != "" {
		text += " (" + c.Comment + ")"
	}
	return text
}

func (c Conservation) text() string {
	text := fmt.Sprintf("%d sent = %d received + %d dropped", c.Sent, c.Received, c.Dropped)
	if c.Functions > 0 {
		text += fmt.Sprintf(" + %d dropped by functions", c.Functions)
	}
	if c.XDP > 0 {
		text += fmt.Sprintf(" + %d lost by XDP", c.XDP)
	}
	text += fmt.Sprintf(" + %d unexplained", c.Unexplained)
	if c.Duplicates > 0 {
		text += fmt.Sprintf("; %d came twice", c.Duplicates)
	}
	if c.Refused > 0 {
		text += fmt.Sprintf("; %d were not sent (%s)", c.Refused, c.Error)
	}
	return text
}
