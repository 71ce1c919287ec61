package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/report/plot"
	"nfchain.dev/nfchain/internal/words"
)

// claim is a verdict as a page shows it.
type claim struct {
	experiment.Verdict
	Look tally
	// Numbers is the estimate with its interval, and Range where it should lie.
	Numbers, Range string
	// Span draws both; empty where there is no estimate.
	Span template.HTML
}

// statement is the claims that are parts or readings of one statement of a source,
// which stand beside each other.
type statement struct {
	ID     string
	Claims []claim
}

// Several tells a statement that took more than one claim.
func (s statement) Several() bool { return len(s.Claims) > 1 }

// Head and Tail say, before and after its id, what several claims are.
func (s statement) Head() string {
	if n := s.own(); n > 1 {
		return fmt.Sprintf("%d checks of", n)
	}
	return ""
}

// Tail is what Head says it is.
func (s statement) Tail() (text string) {
	if s.own() > 1 {
		text = ": parts of one statement, or readings of a source that is not of one mind"
	}
	if s.own() < len(s.Claims) {
		text += ", as the source measured and at the load that this machine carries most of"
	}
	return text
}

// own is how many claims it took, without those at the calibrated load.
func (s statement) own() (n int) {
	for _, c := range s.Claims {
		if _, twin := experiment.IsTwin(c.ID); !twin {
			n++
		}
	}
	return n
}

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
		whole, _ := experiment.IsTwin(c.ID)
		whole, _, _ = strings.Cut(whole, ":")
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
	u := unitOf(v)
	c.Numbers = estimateText(u, *v.Estimate, v.CI95)
	c.Span = template.HTML(plot.Span{ID: id, Title: "estimate of " + v.ID, Description: spanWords(c), Estimate: *v.Estimate, CI: v.CI95,
		AtLeast: v.AtLeast, AtMost: v.AtMost, Text: u.bound}.SVG())
	return c
}

// tiny is from where on a number is written with an exponent.
const tiny = 1e-4

// unitOf is what a claim's numbers are in: that of the metric where the claim is about
// its value, and none where it is about shares and ratios.
func unitOf(v experiment.Verdict) unit {
	metric, rest, _ := strings.Cut(v.Quantity, " ")
	if !strings.HasPrefix(rest, "with ") {
		return unit{"", 1}
	}
	most := 0.
	for _, x := range []*float64{v.Estimate, v.AtLeast, v.AtMost} {
		if x != nil && finite(*x) {
			most = max(most, math.Abs(*x))
		}
	}
	return unitFor(metric, most)
}

// estimateText is an estimate with its interval: 0.102 [0.081, 0.123].
func estimateText(u unit, v float64, ci *[2]float64) string {
	most := math.Abs(v)
	if ci != nil {
		most = max(most, math.Abs(ci[0]), math.Abs(ci[1]))
	}
	if u.Name == "" && most > 0 && most < tiny {
		small := func(x float64) string { return strconv.FormatFloat(x, 'e', 1, 64) }
		if ci == nil {
			return small(v)
		}
		return fmt.Sprintf("%s [%s, %s]", small(v), small(ci[0]), small(ci[1]))
	}
	value, interval := u.centred(v, ci)
	return join(strings.TrimSpace(value+" "+interval), u.Name)
}

// bound writes an end of a range.
func (u unit) bound(v float64) string {
	if v /= u.Factor; v != 0 && math.Abs(v) < tiny {
		return join(strconv.FormatFloat(v, 'g', -1, 64), u.Name)
	}
	return join(words.Significant(v, 6), u.Name)
}

// spanWords tells what a span shows to those who do not see it.
func spanWords(c claim) string {
	text := fmt.Sprintf("The estimate is %s", c.Numbers)
	if c.Range != "" {
		text += "; the statement holds " + c.Range
	}
	return text + ": " + c.Verdict.Verdict + "."
}
