package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/report"
	"nfchain.dev/nfchain/internal/results"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// output says how a run is to be reported, while it lasts and after.
type output struct {
	format      *string
	html        string
	openmetrics string
	strict      bool
	// fresh tells that the command begins anew each time that it is given.
	fresh    bool
	baseline *baseline
}

// register adds the flags that all commands that measure have.
func (o *output) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.strict, "strict", false, "exit with 1 if a result is unsettled (interval wider than 10%)")
	f.StringVar(&o.html, "html", "", "write the report as one HTML file too")
	f.StringVar(&o.openmetrics, "openmetrics", "", "serve the running measurement for a collector at this address, such as 127.0.0.1:9464")
	o.format = outputFlag(cmd, "text", "json", "csv", "md", "junit")
}

// measure runs the trials and reports them, whatever became of them: what was
// measured before a failure is stored and shown.
func (a *app) measure(ctx context.Context, m *runs.Measurement, r *trial.Run, store *results.Store, has func(string) bool, o output) error {
	stop, err := a.serve(o.openmetrics, m)
	if err != nil {
		return err
	}
	defer stop()
	a.upTo = r.Until > 0
	failed := m.Run(ctx, r)
	a.bar.clear()
	if len(r.Trials) > 0 {
		rep := a.build(*r, has)
		knownNoise(ctx, store, &rep)
		rep.Place = store.Path()
		worse := error(nil)
		if failed == nil {
			worse = o.baseline.compare(&rep)
		}
		if err := a.publish(rep, o); err != nil {
			return errors.Join(failed, err)
		}
		if failed == nil && worse == nil && o.strict {
			worse = unsettled(rep)
		}
		if worse != nil {
			return worse
		}
	}
	if failed == nil {
		return trialsFailed(*r)
	}
	if errors.Is(failed, context.Canceled) {
		goOn := ""
		if r.Experiment != "" {
			goOn = "; " + again(o.fresh) + " goes on from there"
		}
		return fmt.Errorf("run %s: %w; %s stored in %s%s", r.ID, failed, words.Plural(len(r.Trials), "trial"), store.Path(), goOn)
	}
	return failed
}

// trialsFailed is an error where some of a run's trials measured nothing, though the run went on to its end.
func trialsFailed(r trial.Run) error {
	n, why := r.Failed()
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s of run %s failed; the first %s", n, words.Plural(r.Finished(), "trial"), r.ID, why)
}

// build makes the report of a run; what an experiment adds follows from the file
// that the run keeps.
func (a *app) build(r trial.Run, has func(string) bool) report.Report {
	rep := report.New(r)
	if r.Experiment == "" {
		return rep
	}
	f, err := registry.Words().Decode(r.ID, []byte(r.Spec))
	if err != nil || len(f.Experiments) == 0 {
		rep.Run.Warnings = append(rep.Run.Warnings, "the experiment's file can no longer be read, so its claims are not judged")
		return rep
	}
	spec, cores := f.Experiments[0].Spec, experiment.CoresOf(r.Environment)
	if note := experiment.CoresNote(spec, cores); note != "" {
		rep.Run.Warnings = append(rep.Run.Warnings, note)
	}
	spec = experiment.OnCores(spec, cores)
	if has == nil {
		has = feature.Probe(context.Background(), feature.Host()).Has
	}
	known := func(name string) bool { return has(name) || registry.Has(name) }
	rep.Source, rep.References = spec.Source, spec.Reference
	if note := experiment.CalibratedNote(r); note != "" {
		rep.Run.Warnings = append(rep.Run.Warnings, note)
	}
	spec = experiment.WithTwins(spec, r.Conditions)
	rep.Fits, rep.Rankings = experiment.Fits(spec, r), experiment.Rankings(spec, r)
	rep.Verdicts = experiment.Untwinned(experiment.Judge(spec, r, known), r)
	return rep
}

// publish writes the report to stdout and, if asked, to an HTML file.
func (a *app) publish(rep report.Report, o output) error {
	if o.html != "" {
		if err := writeFile(o.html, func(w io.Writer) error { return report.HTML(w, rep) }); err != nil {
			return err
		}
		a.say("report written to %s", o.html)
	}
	return render(a.stdout, rep, *o.format)
}

// formats a run can be written in, besides text.
var formats = map[string]func(io.Writer, report.Report) error{
	"json": report.JSON, "csv": report.CSV, "md": report.Markdown,
	"parquet": report.Parquet, "hdr": report.HDRLog, "junit": report.JUnit, "openmetrics": report.OpenMetrics,
}

func render(w io.Writer, rep report.Report, format string) error {
	if write := formats[format]; write != nil {
		return write(w, rep)
	}
	return report.Text(w, rep)
}

// checkWritable finds out before hours of measuring that a report has no place.
func checkWritable(flag, path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("--%s %s cannot be written: it is a directory: %w", flag, path, runs.ErrInput)
	}
	path, whole := destination(path)
	if !whole {
		return nil // whether it takes anything is found out when it gets it
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".nfchain-*")
	if err != nil {
		return fmt.Errorf("--%s %s cannot be written: %w: %w", flag, path, errors.Unwrap(err), runs.ErrInput)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// destination of what is written to a path: where a link leads, and whether a file is put there, whole, or written into what is there, which is
// no file, as a device, or a pipe that standard output is.
func destination(path string) (at string, whole bool) {
	if info, err := os.Stat(path); err == nil && (!info.Mode().IsRegular() || strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/proc/")) {
		return path, false // of files, too, that others have open
	}
	if at, err := filepath.EvalSymlinks(path); err == nil {
		return at, true
	}
	if to, err := os.Readlink(path); err == nil { // to a file that is not there yet
		if filepath.IsAbs(to) {
			return to, true
		}
		return filepath.Join(filepath.Dir(path), to), true
	}
	return path, true
}

// writeFile writes a file whole or not at all; into what is no file, as it comes.
func writeFile(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("write %s: it is a directory; name a file: %w", path, runs.ErrInput)
	}
	path, whole := destination(path)
	if !whole {
		return writeInto(path, write)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".nfchain-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// writeInto what is there.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err = errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// unsettled is the gate of --strict.
func unsettled(rep report.Report) error {
	for i, c := range rep.Conditions {
		name := trial.MainMetric(func(m string) bool { _, has := c.Metrics[m]; return has })
		if c.Metrics[name].Unsettled {
			return fmt.Errorf("condition %d: %s is unsettled: its interval is wider than 10%%; use more repeats or longer trials", i+1, name)
		}
	}
	return nil
}

func (a *app) reportCmd() *cobra.Command {
	var html string
	cmd := &cobra.Command{
		Use: "report RUN", Short: "Report a stored run again",
		Long: `Report a stored run: by its id, the beginning of it, or "last".

csv and parquet have a row for each metric of each trial, hdr is a log of the
latency histograms in the format of HdrHistogram, junit is for a CI server, and
openmetrics for a collector.`,
		Example: "  nfchain report last\n  nfchain report last --html last.html\n  nfchain report last -o parquet > last.parquet", Args: cobra.ExactArgs(1),
		ValidArgsFunction: a.completeOneRun,
	}
	var o *string
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		if err := checkWritable("html", html); err != nil {
			return err
		}
		store, err := a.stored()
		if err != nil {
			return err
		}
		defer func() { _ = store.Close() }()
		r, err := find(cmd.Context(), store, args[0])
		if err != nil {
			return err
		}
		rep := a.build(r, nil)
		knownNoise(cmd.Context(), store, &rep)
		rep.Place = store.Path()
		return a.publish(rep, output{format: o, html: html})
	})
	o = outputFlag(cmd, "text", "json", "csv", "md", "parquet", "hdr", "junit", "openmetrics")
	cmd.Flags().StringVar(&html, "html", "", "write the report as one HTML file too")
	return cmd
}

func find(ctx context.Context, store *results.Store, ref string) (trial.Run, error) {
	id, err := store.Find(ctx, ref)
	if err != nil {
		return trial.Run{}, err
	}
	return store.Get(ctx, id)
}
