package report

import (
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/words"
)

// paramsTable has the models' parameters with their uncertainty. A model that was not
// fitted says why.
func (r Report) paramsTable() table {
	t := table{Title: "Models", Caption: "Fitted to the conditions of this run, with 95% intervals where the fit gives them."}
	t.column("model", false)
	t.column("formula", false)
	t.column("parameter", false)
	t.column("value", true)
	t.column("95% interval", true)
	t.column("note", false)
	for _, f := range r.Fits {
		note := strings.Join(f.Notes, "; ")
		if len(f.Params) == 0 {
			t.add(true, f.Name, f.Formula, "", "", "", note)
		}
		for i, p := range f.Params {
			u := paramUnit(p)
			value, interval := u.centred(p.Value, p.CI95)
			t.add(i == 0, f.Name, f.Formula, p.Name, join(value, u.Name), interval, note)
			note = ""
		}
	}
	return t
}

// paramUnit is the unit to print a parameter in: one of metrics, one in words, or none
// for a share.
func paramUnit(p experiment.Param) unit {
	if words.IsUnit(p.Unit) {
		return unitFor("_"+p.Unit, p.Value)
	}
	return unit{p.Unit, 1}
}

// fitTable sets the models against what was measured.
func (r Report) fitTable() table {
	t := table{Title: "Models against measurements", Caption: "Values that were left out of a fit are only compared with it; “stretched” is beyond those that were fitted. The last column is the error from a fit without that value."}
	t.column("model", false)
	t.column("over", false)
	t.column("at", true)
	t.column("measured", true)
	t.column("model has", true)
	t.column("error", true)
	t.column("in the fit", false)
	t.column("held out", true)
	for _, f := range r.Fits {
		for i, p := range f.Points {
			t.add(i == 0, f.Name, overText(f, p), raw(p.X), printed(f.Metric, p.Measured), printed(f.Metric, p.Predicted),
				fixed(100*p.RelativeError, 1)+" %", inFit(p), heldOutAt(f, p))
		}
	}
	return t
}

// overText is what a point's place is a value of.
func overText(f experiment.Fit, p experiment.FitPoint) string {
	if p.Flows > 0 {
		return f.Over + ", " + raw(float64(p.Flows)) + " flows"
	}
	return f.Over
}

func inFit(p experiment.FitPoint) string {
	if !p.Fitted && p.Stretched {
		return "no, stretched"
	}
	return yesNo(p.Fitted)
}

// heldOutAt is a model's error at a point that it was fitted without.
func heldOutAt(f experiment.Fit, at experiment.FitPoint) string {
	if f.HeldOut == nil {
		return ""
	}
	for _, p := range f.HeldOut.Points {
		if p.X == at.X && p.Flows == at.Flows {
			return fixed(100*p.RelativeError, 1) + " %"
		}
	}
	return ""
}

// rankingTable sets models of the same trials side by side.
func (r Report) rankingTable() table {
	t := table{Title: "Models side by side", Caption: "By their error at what they were not fitted to: the root mean square of ln(predicted/measured). The quotients' intervals hold at once with 95%."}
	t.column("metric", false)
	t.column("over", false)
	t.column("model", false)
	t.column("held-out error", true)
	t.column("95% interval", true)
	t.column("over the least", true)
	t.column("interval", true)
	t.column("which is best", false)
	percentage := unit{"%", .01}
	for _, k := range r.Rankings {
		for i, m := range k.Models {
			value, interval := percentage.centred(m.ErrorRatio, m.CI95)
			times, bounds, reason := "", "", ""
			if m.OverBest != nil {
				times, bounds = unit{"", 1}.centred(m.OverBest.Value, m.OverBest.CI95)
			}
			if i == 0 {
				reason = k.Reason
			}
			t.add(i == 0, k.Metric, k.Over, m.Name, value+" %", interval, times, bounds, reason)
		}
	}
	return t
}
