package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/report/plot"
)

// claim is a verdict as a page shows it.
type claim struct {
	experiment.Verdict
	Look tally
	// Numbers is the estimate with its interval, and Range where it should lie.
	Numbers, Range string
	// Span draws both; empty where there is no estimate.
	Span template.HTML
	// Floor says that the difference is smaller than this machine can show.
	Floor string
}

// statement is the claims that are parts or readings of one statement of a source,
// which stand beside each other.
type statement struct {
	ID     string
	Claims []claim
}

// Several tells a statement that took more than one claim.
func (s statement) Several() bool { return len(s.Claims) > 1 }

// Count is how many claims it took.
func (s statement) Count() int { return len(s.Claims) }

// statements are a report's claims, those of one statement together where the first of
// them is.
func (r Report) statements() []statement {
	claims := make([]claim, len(r.Verdicts))
	for i, v := range r.Verdicts {
		claims[i] = newClaim(v, r.prefix+"claim-"+strconv.Itoa(i))
	}
	return statementsOf(claims)
}

func statementsOf(claims []claim) (out []statement) {
	at := map[string]int{}
	for _, c := range claims {
		whole, _, _ := strings.Cut(c.ID, ":")
		if _, known := at[whole]; !known {
			at[whole] = len(out)
			out = append(out, statement{ID: whole})
		}
		s := &out[at[whole]]
		s.Claims = append(s.Claims, c)
	}
	return out
}

// newClaim is a verdict for a page on which id is unique.
func newClaim(v experiment.Verdict, id string) claim {
	c := claim{Verdict: v, Look: lookOf(v.Verdict), Range: rangeText(v)}
	if v.Estimate == nil || !finite(*v.Estimate) {
		return c
	}
	c.Numbers = estimateText(*v.Estimate, v.CI95)
	c.Span = template.HTML(plot.Span{ID: id, Title: "estimate of " + v.ID, Description: spanWords(c), Estimate: *v.Estimate, CI: v.CI95,
		AtLeast: v.AtLeast, AtMost: v.AtMost, Text: boundText}.SVG())
	return c
}

// tiny is from where on a number is written with an exponent.
const tiny = 1e-4

// estimateText is an estimate with its interval: 0.102 [0.081, 0.123].
func estimateText(v float64, ci *[2]float64) string {
	most := math.Abs(v)
	if ci != nil {
		most = max(most, math.Abs(ci[0]), math.Abs(ci[1]))
	}
	if most > 0 && most < tiny {
		small := func(x float64) string { return strconv.FormatFloat(x, 'e', 1, 64) }
		if ci == nil {
			return small(v)
		}
		return fmt.Sprintf("%s [%s, %s]", small(v), small(ci[0]), small(ci[1]))
	}
	value, interval := unit{factor: 1}.centred(v, ci)
	return strings.TrimSpace(value + " " + interval)
}

// boundText is an end of a range.
func boundText(v float64) string {
	if v != 0 && math.Abs(v) < tiny {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return raw(v)
}

// spanWords tells what a span shows to those who do not see it.
func spanWords(c claim) string {
	text := fmt.Sprintf("The estimate is %s", c.Numbers)
	if c.Range != "" {
		text += "; the statement holds " + c.Range
	}
	return text + ": " + c.Verdict.Verdict + "."
}
