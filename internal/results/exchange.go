package results

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"

	"nfchain.dev/nfchain/internal/trial"
)

// Export writes the whole run of exactly that id as one JSON document, a
// [trial.Run].
func (s *Store) Export(ctx context.Context, id string, w io.Writer) error {
	run, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(run)
}

// Import stores the run that r holds, as [Store.Export] writes it, and gives its
// id. A run that is here already is left as it is; [ErrExists] where one of that
// id has other content. A document of a schema that this nfchain does not know
// is refused.
func (s *Store) Import(ctx context.Context, r io.Reader) (id string, err error) {
	run, err := readRun(r)
	if err != nil {
		return "", fmt.Errorf("import: %w", err)
	}
	err = s.CreateRun(ctx, run)
	if !errors.Is(err, ErrExists) {
		return run.ID, err
	}
	here, err := s.Get(ctx, run.ID)
	if err != nil {
		return "", err
	}
	if !sameRun(here, run) {
		return "", fmt.Errorf("import: run %s is here with other content: %w", run.ID, ErrExists)
	}
	return run.ID, nil
}

// readRun reads one document and nothing after it.
func readRun(r io.Reader) (run trial.Run, err error) {
	d := json.NewDecoder(r)
	if err := d.Decode(&run); err != nil {
		return run, fmt.Errorf("not an exported run: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return run, errors.New("something follows the run's JSON document")
	}
	if run.State == trial.Running {
		run.State = trial.Interrupted // nobody here is running it
	}
	return run, checkRun(run)
}

// checkRun refuses what no nfchain can have exported.
func checkRun(run trial.Run) error {
	if run.SchemaVersion > trial.SchemaVersion {
		return fmt.Errorf("schema_version %d: %w", run.SchemaVersion, ErrNewer)
	}
	if run.SchemaVersion != trial.SchemaVersion {
		return fmt.Errorf("schema_version %d is unknown; this nfchain reads %d", run.SchemaVersion, trial.SchemaVersion)
	}
	if err := checkID(run.ID); err != nil {
		return err
	}
	if !validState(run.State) {
		return fmt.Errorf("run %s: %q is not a state of a run", run.ID, run.State)
	}
	if err := checkTrials(run); err != nil {
		return err
	}
	return checkNames(run)
}

// metricName is what metrics are called: one of before has a digit in it, one of another
// chain begins with its number.
var metricName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// checkNames wants the names of metrics, series and histograms to be such: they become
// column names, labels and parts of pages.
func checkNames(run trial.Run) error {
	for i, t := range run.Trials {
		for _, names := range []iter.Seq[string]{maps.Keys(t.Metrics), maps.Keys(t.Series), maps.Keys(t.Histograms)} {
			for name := range names {
				if !metricName.MatchString(name) {
					return fmt.Errorf("run %s: trial %d has a metric called %q, and names of metrics are up to 128 letters, digits, _, . and -: export the run again where it was measured", run.ID, i, name)
				}
			}
		}
	}
	return nil
}

// checkTrials wants each trial to be of one of the run's conditions, and the only one of its
// repeat and step.
func checkTrials(run trial.Run) error {
	seen := map[[3]int]bool{}
	for i, t := range run.Trials {
		if t.Condition < 0 || t.Condition >= len(run.Conditions) {
			return fmt.Errorf("run %s: trial %d belongs to condition %d of %d", run.ID, i, t.Condition, len(run.Conditions))
		}
		at := [3]int{t.Condition, t.Repeat, t.Step}
		if seen[at] {
			return fmt.Errorf("run %s: trial %d is the second of condition %d, repeat %d, step %d", run.ID, i, t.Condition, t.Repeat, t.Step)
		}
		seen[at] = true
	}
	return nil
}

// sameRun compares what two runs export.
func sameRun(a, b trial.Run) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
