package advise

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"nfchain.dev/nfchain/internal/report"
	"nfchain.dev/nfchain/internal/words"
)

// JSON writes the advice as one object.
func (a Advice) JSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(a)
}

// Text writes the advice for people: of each case two sentences, the evidence, and what
// is not known.
func (a Advice) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Goal: %s\nRuns: %s\n", a.goal(), strings.Join(a.Runs, ", "))
	if a.Forced {
		fmt.Fprintf(&b, "FORCED: the machines are unlike (%s), which may be the whole difference\n", report.JoinDifferences(a.Unlike))
	}
	for _, c := range a.Cases {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s", c.Name, c.Advice, c.Alternatives, c.table())
		list(&b, c.Unknown)
		fmt.Fprintf(&b, "- intervals hold at once with 95%%: each is of %s%%\n", words.Significant(100*c.Confidence, 4))
	}
	fmt.Fprintf(&b, "\nNot known:\n")
	list(&b, a.Unknown)
	_, err := io.WriteString(w, b.String())
	return err
}

func list(b *strings.Builder, lines []string) {
	for _, l := range lines {
		fmt.Fprintf(b, "- %s\n", l)
	}
}

func (a Advice) goal() string {
	texts := make([]string, len(a.Goal))
	for i, c := range a.Goal {
		texts[i] = c.Text
	}
	return strings.Join(texts, ", ")
}

// table has the evidence, a line for each condition that says something of a clause.
func (c Case) table() string {
	t := words.NewTable()
	t.Row("CHOICE", "GOAL", "VERDICT", "MEASURED", "INTERVAL", "TIMES THE ADVISED", "TRIALS", "RUN")
	for _, choice := range c.Choices {
		for _, f := range choice.Clauses {
			if len(f.Evidence) == 0 {
				t.Row(choice.Name, f.Clause, f.Verdict, "-", "-", "-", "0", "-")
			}
			for _, e := range f.Evidence {
				interval := "-"
				if e.Interval != nil {
					interval = words.Amount(e.Metric, e.Interval[0]) + " to " + words.Amount(e.Metric, e.Interval[1])
				}
				t.Row(choice.Name, f.Clause, e.Verdict, words.Metric(e.Metric)+" "+words.Amount(e.Metric, e.Estimate), interval, choice.priceText(e),
					fmt.Sprintf("%d %s", e.Trials, e.Condition.Protocol), e.Run)
			}
		}
	}
	return t.String()
}
