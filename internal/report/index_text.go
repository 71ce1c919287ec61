package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"nfchain.dev/nfchain/internal/words"
)

// IndexText writes an index for a terminal.
func IndexText(w io.Writer, d IndexData) error {
	var b strings.Builder
	if text := d.quick(); text != "" {
		b.WriteString(text + "\n\n")
	}
	experiments := d.experimentsTable()
	b.WriteString(strings.ToUpper(experiments.Title) + "\n")
	aligned(&b, experiments)
	for _, t := range []table{d.claimsTable(), d.untoldTable(), d.droppedTable(), d.machineTable(), d.elsewhereTable()} {
		if len(t.Rows) > 0 {
			b.WriteString("\n" + strings.ToUpper(t.Title) + "\n")
			aligned(&b, t)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d IndexData) experimentsTable() table {
	t := table{Title: "Experiments"}
	t.column("id", false)
	t.column("state", false)
	t.column("conditions", true)
	t.column("trials", true)
	t.column("took", true)
	t.column("claims", false)
	t.column("run", false)
	for _, e := range d.Experiments {
		t.add(true, e.ID, e.stateText(), fmt.Sprint(e.Conditions), fmt.Sprint(e.Trials), secondsText(math.Round(e.DurationS)), e.tallied(), e.Run)
	}
	return t
}

// stateText is the state, with the trials that failed.
func (e IndexEntry) stateText() string {
	if e.FailedTrials == 0 {
		return e.State
	}
	return fmt.Sprintf("%s, %s failed", e.State, words.Plural(e.FailedTrials, "trial"))
}

// tallied is how many of the claims came back with which verdict.
func (e IndexEntry) tallied() string { return tallyText(tallied(verdictsOf(e))) }

func (d IndexData) claimsTable() table {
	t := table{Title: "Claims"}
	t.column("", false)
	t.column("id", false)
	t.column("verdict", false)
	t.column("why", false)
	for _, e := range d.Experiments {
		for i, c := range e.Claims {
			t.add(i == 0, lookOf(c.Verdict.Verdict).Symbol, c.ID, c.Verdict.Verdict, withFloor(c.Reason, c.Floor))
		}
	}
	return t
}
