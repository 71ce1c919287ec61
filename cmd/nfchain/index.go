package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/report"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/published"
)

// entryWithout is what there is to say of an experiment that has no trials.
func (q *queue) entryWithout(w work, why string) report.IndexEntry {
	x := w.experiment()
	e := report.IndexEntry{ID: w.id, Description: x.Metadata.Description, Source: x.Spec.Source, State: report.NotRun, Failure: why}
	for _, c := range x.Spec.Claims {
		reason := why
		if reason == "" {
			reason = "nothing was measured"
		}
		e.Claims = append(e.Claims, report.IndexClaim{Verdict: experiment.Verdict{
			ID: c.ID, Text: c.Text, At: c.At, Note: c.Note, Verdict: experiment.CannotBeTold, Reason: reason,
		}})
	}
	return e
}

// entry is what a run says of an experiment, whole or not.
func (q *queue) entry(w work, r trial.Run, failed error) report.IndexEntry {
	x := w.experiment()
	rep := q.build(r, q.h.Features.Has)
	q.calibration.beside(&rep)
	rep.Place = q.store.Path()
	e := report.IndexEntry{
		ID: w.id, Description: x.Metadata.Description, Source: x.Spec.Source, State: r.State, Run: r.ID,
		Conditions: len(r.Conditions), Trials: len(r.Trials), Infeasible: r.Infeasible, Dropped: r.Dropped, Report: &rep,
	}
	e.FailedTrials, _ = r.Failed()
	if failed != nil {
		e.Failure = describe(failed)
	}
	if use := r.TimeUse(); use != nil {
		e.DurationS = use.WholeS
	}
	for _, v := range rep.Verdicts {
		e.Claims = append(e.Claims, report.IndexClaim{Verdict: v})
	}
	if q.flags.index != "" {
		e.Page = pageOf(w.id)
	}
	return e
}

// indexName is the index in its directory, without what ends the names of pages.
const indexName = "index"

// pageOf an experiment in the directory of an index, which none of them overwrites: no
// experiment's name ends with an underscore.
func pageOf(id string) string {
	name := strings.ReplaceAll(id, "/", "-")
	if name == indexName {
		name += "_"
	}
	return name + ".html"
}

// elsewhere are the claims, of the sources of some experiments, that this one host cannot tell.
func elsewhere(works []work) (out []report.Elsewhere) {
	sources, tested := map[string]bool{}, map[string]bool{}
	for _, w := range works {
		sources[published.Source(w.id)] = true
		for _, c := range w.experiment().Spec.Claims {
			tested[published.Whole(c.ID)] = true
		}
	}
	for _, c := range published.Claims() {
		if sources[published.Source(c.ID)] && c.Needs != published.OneHost && !tested[c.ID] {
			out = append(out, report.Elsewhere{ID: c.ID, At: c.At, Text: c.Text, Needs: c.NeedsText(), Note: c.Note})
		}
	}
	return out
}

// writeIndex writes the latest experiment's page and the index, if they were asked for.
func (q *queue) writeIndex() error {
	if q.flags.index == "" {
		return nil
	}
	latest := q.index.Experiments[len(q.index.Experiments)-1]
	if latest.Report != nil {
		err := writeFile(filepath.Join(q.flags.index, latest.Page), func(w io.Writer) error { return report.HTML(w, *latest.Report) })
		if err != nil {
			return err
		}
	}
	return errors.Join(
		writeFile(filepath.Join(q.flags.index, indexName+".html"), func(w io.Writer) error { return report.IndexHTML(w, q.index) }),
		writeFile(filepath.Join(q.flags.index, indexName+".md"), func(w io.Writer) error { return report.IndexMarkdown(w, q.index) }))
}

// tell writes the index to standard output.
func (q *queue) tell() error {
	if q.flags.index != "" {
		q.say("pages written to %s", filepath.Join(q.flags.index, indexName+".html"))
	}
	switch *q.flags.output.format {
	case "json":
		return q.printJSON(q.index)
	case "md":
		return report.IndexMarkdown(q.stdout, q.index)
	}
	return report.IndexText(q.stdout, q.index)
}

// checkDirectory makes a directory and finds out, before hours of measuring, that files
// can be written there.
func checkDirectory(flag, dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--%s %s cannot be made: %w: %w", flag, dir, errors.Unwrap(err), runs.ErrInput)
	}
	return checkWritable(flag, filepath.Join(dir, indexName+".html"))
}
