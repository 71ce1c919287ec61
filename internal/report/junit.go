package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// suite and its parts are the elements that the readers of JUnit's XML have in
// common: Jenkins, GitLab, and the schema of Windyroad.
type suite struct {
	XMLName   xml.Name   `xml:"testsuite"`
	Name      string     `xml:"name,attr"`
	Timestamp string     `xml:"timestamp,attr"`
	Tests     int        `xml:"tests,attr"`
	Failures  int        `xml:"failures,attr"`
	Errors    int        `xml:"errors,attr"`
	Skipped   int        `xml:"skipped,attr"`
	Time      string     `xml:"time,attr"`
	Property  []property `xml:"properties>property"`
	Cases     []testcase `xml:"testcase"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testcase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Time    string   `xml:"time,attr"`
	Failure *message `xml:"failure"`
	Error   *message `xml:"error"`
	Skipped *message `xml:"skipped"`
	Output  string   `xml:"system-out,omitempty"`
}

type message struct {
	Message string `xml:"message,attr"`
}

// JUnit writes a run for a CI server: one case for each condition, which is an
// error where trials are missing or failed, and one for each claim, which fails where the
// claim does not hold and is skipped where that is not known. Combinations that are
// infeasible are skipped cases too, and a run with a baseline has a case that fails
// where it is slower.
func JUnit(w io.Writer, r Report) error {
	s := suite{Name: "nfchain " + r.title(), Timestamp: r.Run.CreatedAt.UTC().Format("2006-01-02T15:04:05"),
		Property: []property{{"run", r.Run.ID}, {"kernel", r.Run.Environment.Kernel}, {"cpu_model", r.Run.Environment.CPUModel}}}
	total, name, outcomes := 0.0, labels(r.Conditions), r.outcomes()
	for i, c := range r.Conditions {
		seconds := r.spent(i)
		total += seconds
		s.add(testcase{Class: r.title() + ".conditions", Name: name.of(c.Condition), Time: raw(seconds), Error: r.missing(c.Condition, outcomes[i]), Output: conditionText(c)})
	}
	for _, c := range r.infeasibleCases() {
		s.add(c)
	}
	for _, v := range r.Verdicts {
		s.add(claimCase(r.title(), v))
	}
	if r.Against != nil {
		s.add(baselineCase(r.title(), *r.Against))
	}
	s.Time = raw(total)
	return writeXML(w, s)
}

func (s *suite) add(c testcase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// spent is how long a condition's repeats took. The steps of a search are in the time of
// the trial that it ends with.
func (r Report) spent(condition int) (seconds float64) {
	for _, t := range r.Run.Trials {
		if t.Condition == condition && t.Step == 0 {
			seconds += t.DurationS
		}
	}
	return seconds
}

// missing says which repeats of a condition measured nothing, and why; nil where all did.
func (r Report) missing(c trial.Condition, o outcome) *message {
	asked := r.Run.RepeatsOf(c)
	switch {
	case o.failed > 0:
		return &message{fmt.Sprintf("%d of %d repeats measured anything, %d failed: %s", o.done, max(asked, o.done+o.failed), o.failed, o.why)}
	case o.done < asked:
		return &message{fmt.Sprintf("%d of %d repeats: the run is %s", o.done, asked, r.Run.State)}
	}
	return nil
}

func conditionText(c trial.Summary) string {
	var b strings.Builder
	for _, m := range metricsOf(c) {
		fmt.Fprintf(&b, "%s: %s\n", m, summaryText(m, c.Metrics[m]))
	}
	return b.String()
}

func claimCase(title string, v experiment.Verdict) testcase {
	c := testcase{Class: title + ".claims", Name: v.ID, Time: "0", Output: v.Text}
	switch v.Verdict {
	case experiment.Holds:
	case experiment.DoesNotHold:
		c.Failure = &message{v.Reason}
	default:
		c.Skipped = &message{v.Verdict + ": " + v.Reason}
	}
	return c
}

// baselineCase is the gate's: a run that cannot be told from its baseline fails nothing.
func baselineCase(title string, against Comparison) testcase {
	c := testcase{Class: title + ".baseline", Name: "not slower than run " + against.A.Run, Time: "0", Output: against.overallText("run " + against.A.Run)}
	switch against.Verdict {
	case Slower:
		c.Failure = &message{strings.Join(against.Worse(), "; ")}
	case Undecided:
		c.Skipped = &message{c.Output}
	}
	return c
}

func writeXML(w io.Writer, v any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
