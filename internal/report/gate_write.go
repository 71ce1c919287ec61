package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"nfchain.dev/nfchain/internal/words"
)

// JSON writes what a gate is worth as one object.
func (g Gate) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(g)
}

// Text writes what a gate is worth for a terminal.
func (g Gate) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "the gate of bench --baseline, at a tolerance of %s, with %d repeats on each side\n", shareText(g.Tolerance), g.Repeats)
	fmt.Fprintf(&b, "%s drawn from %s, seed %d\n\n", words.Plural(g.FalseAlarms.Pairs, "pair"), words.Plural(len(g.Runs), "run"), g.Seed)
	t := table{}
	t.column("slowed by", true)
	t.column("alarms", true)
	t.column("of pairs", true)
	t.column("95% interval", true)
	for _, s := range append([]GateShare{g.FalseAlarms}, g.Caught...) {
		t.add(true, shareText(s.Slowdown), fmt.Sprint(s.Alarms), shareText(float64(s.Alarms)/float64(s.Pairs)), shareInterval(&s.CI95))
	}
	aligned(&b, t)
	section(&b, "", g.notes())
	_, err := io.WriteString(w, b.String())
	return err
}

// notes say what the table comes to.
func (g Gate) notes() []string {
	caught := "no slowdown that was tried is caught in 95% of cases: more repeats, longer trials or a quieter machine"
	if g.Smallest != nil {
		caught = "smallest slowdown caught in 95% of cases: " + shareText(*g.Smallest)
	}
	lines := []string{fmt.Sprintf("false alarms: %s %s", shareText(float64(g.FalseAlarms.Alarms)/float64(g.FalseAlarms.Pairs)), shareInterval(&g.FalseAlarms.CI95)), caught}
	if len(g.Runs) == 1 {
		lines = append(lines, "Drawn from one run, this knows nothing of what differs between runs; give several to have that too.")
	}
	return lines
}
