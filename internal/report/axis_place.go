package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/report/plot"
)

// logarithmic tells levels that lie decades apart, and more evenly by shares than by
// differences. A zero among them is no reason against: it stands by itself, left of the
// rest.
func (a axis) logarithmic() bool {
	least, most, above := a.reach()
	if !a.numbers || above < fewLevels || a.levels[0].value < 0 || most/least < decades {
		return false
	}
	linear, shares := 0., 0. // the widest gaps
	for i, l := range a.levels[1:] {
		before := a.levels[i].value
		linear = max(linear, (l.value-before)/(most-least))
		if before > 0 {
			shares = max(shares, math.Log(l.value/before)/math.Log(most/least))
		}
	}
	return shares < linear
}

// reach is the least level above zero, the greatest, and how many are above zero.
func (a axis) reach() (least, most float64, above int) {
	least = math.Inf(1)
	for _, l := range a.levels {
		if l.value > 0 {
			least, above = min(least, l.value), above+1
		}
		most = max(most, l.value)
	}
	return least, most, above
}

// leftOfAll is where the least level above zero stands on a logarithmic axis, in decades.
const leftOfAll = .25

// place is where a level stands along the axis.
func (a axis) place(l level) float64 {
	if !a.numbers {
		return float64(slices.IndexFunc(a.levels, l.same))
	}
	if !a.logarithmic() {
		return l.value
	}
	least, most, above := a.reach()
	step := math.Log10(most/least) / float64(above)
	if l.value <= 0 {
		return leftOfAll
	}
	return math.Log10(l.value/least) + leftOfAll + step*float64(b2i(a.levels[0].value == 0))
}

// drawn is the axis of a chart.
func (a axis) drawn() plot.Axis {
	if !a.numbers {
		return plot.Axis{Label: a.label(), Names: a.texts()}
	}
	x := plot.Axis{Label: a.label(), AtNames: a.texts()}
	for _, l := range a.levels {
		x.At = append(x.At, a.place(l))
	}
	_, most, _ := a.reach()
	x.Zero = a.logarithmic() || a.levels[0].value <= most/2
	return x
}

// texts are the levels as they are written along the axis.
func (a axis) texts() (out []string) {
	for _, l := range a.levels {
		out = append(out, a.text(l))
	}
	return out
}

// text is a level as it is written along the axis, in the unit of its label.
func (a axis) text(l level) string {
	switch {
	case !finite(l.value) || !a.numbers:
		return l.text
	case strings.HasSuffix(a.field, "_size") && l.value > 0 && math.Mod(l.value, 1<<10) == 0:
		return api.Size(l.value).String()
	}
	return raw(l.value / a.unit().Factor)
}

// unit of the levels of a rate; of others none.
func (a axis) unit() unit {
	_, most, _ := a.reach()
	if column, _ := rawFactor(strings.TrimPrefix(a.field, "load."), a.levels[len(a.levels)-1].text); strings.HasPrefix(column, "offered_") {
		return unitFor(column, most)
	}
	if rate, err := api.ParseRate(a.levels[len(a.levels)-1].text); err == nil && strings.HasSuffix(a.field, "rate") {
		return unitFor("rate_bps", float64(rate))
	}
	return unit{"", 1}
}

// name is the factor without where it is from.
func (a axis) name() string { return shortFactor(a.field) }

// shortFactor is the end of a factor's path: firewall rules of
// chain.functions[fw].firewall.rules, and mtu of chain.mtu.
func shortFactor(field string) string {
	words := slices.DeleteFunc(strings.Split(field, "."), func(word string) bool {
		return word == "chain" || word == "load" || strings.Contains(word, "[")
	})
	return strings.Join(words[max(0, len(words)-2):], " ")
}

// factorWords are the factors that have better words than their names.
var factorWords = map[string]string{
	"length": "length of the chain (namespaces, both ends included)", "payload_size": "payload size in bytes", "frame_size": "frame size in bytes with FCS",
	"request_size": "request size in bytes", "response_size": "response size in bytes", "rate": "offered load",
	"idle_containers": "idle containers", "active_chains": "active chains", "copies": "copies of the functions", "mtu": "MTU in bytes",
}

// label says what the axis is.
func (a axis) label() string {
	text, has := factorWords[a.name()]
	if !has {
		text = strings.ReplaceAll(a.name(), "_", " ")
		if a.name() != a.field && !strings.HasPrefix(a.field, "load.") {
			text = fmt.Sprintf("%s (%s)", text, a.field)
		}
	}
	if u := a.unit(); a.numbers && u.Name != "" {
		text += " in " + u.Name
	}
	if a.logarithmic() {
		text += ", logarithmic"
	}
	return text
}

// title is the factor within a title: "the length of the chain".
func (a axis) title() string {
	switch text, has := factorWords[a.name()]; {
	case a.field == "length":
		return "the length of the chain"
	case has:
		text, _, _ = strings.Cut(text, " in ")
		return text
	}
	return strings.ReplaceAll(a.name(), "_", " ")
}
