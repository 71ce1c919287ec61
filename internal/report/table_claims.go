package report

import (
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
)

// claimsTitle marks the table that a page shows in its own way.
const claimsTitle = "Claims"

// claimsTable has the source's statements and what the measurements say of them.
func (r Report) claimsTable() table {
	t := table{Title: claimsTitle, Caption: "What the source states, and whether it holds here. A claim holds when the whole interval lies in the range that was stated beforehand, and does not when none of it does."}
	for _, head := range []string{"claim", "statement", "at", "verdict", "why"} {
		t.column(head, false)
	}
	for _, v := range r.Verdicts {
		t.add(true, v.ID, v.Text, v.At, v.Verdict, withFloor(why(v), v.Floor))
	}
	return t
}

func why(v experiment.Verdict) string {
	if v.Note == "" {
		return v.Reason
	}
	return strings.TrimSpace(v.Reason + " (note: " + v.Note + ")")
}
