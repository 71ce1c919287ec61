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
// error where trials are missing, and one for each claim, which fails where the
// claim does not hold and is skipped where that is not known. Combinations that are
// infeasible are skipped cases too.
func JUnit(w io.Writer, r Report) error {
	s := suite{Name: "nfchain " + r.title(), Timestamp: r.Run.CreatedAt.UTC().Format("2006-01-02T15:04:05"),
		Property: []property{{"run", r.Run.ID}, {"kernel", r.Run.Environment.Kernel}, {"cpu_model", r.Run.Environment.CPUModel}}}
	total, name := 0.0, labels(r.Conditions)
	for i, c := range r.Conditions {
		seconds, trials := r.spent(i)
		total += seconds
		s.add(testcase{Class: r.title() + ".conditions", Name: name.of(c.Condition), Time: raw(seconds), Error: r.missing(c.Condition, trials), Output: conditionText(c)})
	}
	for _, c := range r.infeasibleCases() {
		s.add(c)
	}
	for _, v := range r.Verdicts {
		s.add(claimCase(r.title(), v))
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

// spent is how long a condition's repeats took, and how many there are. A search that
// has not ended is none, and its steps are in the time of the one that has.
func (r Report) spent(condition int) (seconds float64, repeats int) {
	for _, t := range r.Run.Trials {
		if t.Condition == condition && t.Step == 0 {
			seconds += t.DurationS
			repeats++
		}
	}
	return seconds, repeats
}

func (r Report) missing(c trial.Condition, repeats int) *message {
	asked := r.Run.RepeatsOf(c)
	if repeats >= asked {
		return nil
	}
	return &message{fmt.Sprintf("%d of %d repeats: the run is %s", repeats, asked, r.Run.State)}
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
