package report

import (
	"strconv"
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
		t.add(true, v.ID, v.Text, v.At, v.Verdict, why(v))
	}
	return t
}

func why(v experiment.Verdict) string {
	if v.Note == "" {
		return v.Reason
	}
	return strings.TrimSpace(v.Reason + " (note: " + v.Note + ")")
}

// paramsTable has the models' parameters with their uncertainty.
func (r Report) paramsTable() table {
	t := table{Title: "Models", Caption: "Fitted to the conditions of this run, with 95% intervals where the fit gives them."}
	t.column("model", false)
	t.column("formula", false)
	t.column("parameter", false)
	t.column("value", true)
	t.column("95% interval", true)
	t.column("note", false)
	for _, f := range r.Fits {
		for i, p := range f.Params {
			u, note := paramUnit(f, p), ""
			value, interval := u.centred(p.Value, p.CI95)
			if i == 0 {
				note = strings.Join(f.Notes, "; ")
			}
			t.add(i == 0, f.Name, f.Formula, p.Name, join(value, u.name), interval, note)
		}
	}
	return t
}

// paramUnit is the metric's where a parameter is of its size (a rate at some
// length), and none where it is a share.
func paramUnit(f experiment.Fit, p experiment.Param) unit {
	if _, last := splitUnit(p.Name); units[last] != nil {
		return unitFor(p.Name, p.Value)
	}
	for _, point := range f.Points {
		if point.Measured != 0 && p.Value/point.Measured > .01 && p.Value > 10 {
			return unitFor(f.Metric, p.Value)
		}
	}
	return unit{"", 1}
}

// splitUnit cuts the last word off a name.
func splitUnit(name string) (stem, last string) {
	i := strings.LastIndexByte(name, '_')
	return name[:max(i, 0)], name[i+1:]
}

// fitTable sets the models against what was measured.
func (r Report) fitTable() table {
	t := table{Title: "Models against measurements", Caption: "Lengths that were left out of a fit are only compared with it."}
	t.column("model", false)
	t.column("length", true)
	t.column("measured", true)
	t.column("model has", true)
	t.column("error", true)
	t.column("in the fit", false)
	for _, f := range r.Fits {
		for i, p := range f.Points {
			t.add(i == 0, f.Name, strconv.Itoa(p.Length), printed(f.Metric, p.Measured), printed(f.Metric, p.Predicted),
				fixed(100*p.RelativeError, 1)+" %", yesNo(p.Fitted))
		}
	}
	return t
}
