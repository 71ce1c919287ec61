package results

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

func exported(t *testing.T) string {
	t.Helper()
	s, ctx := open(t), context.Background()
	run := sampleRun("20261121-035352-aaaa", start)
	must(t, s.CreateRun(ctx, run))
	must(t, s.AppendTrial(ctx, run.ID, sampleTrial(1, 1)))
	must(t, s.AppendTrial(ctx, run.ID, sampleTrial(0, 1)))
	var b bytes.Buffer
	must(t, s.Export(ctx, run.ID, &b))
	return b.String()
}

func TestExportImport(t *testing.T) {
	document, s, ctx := exported(t), open(t), context.Background()
	for range 2 { // the second is a no-op
		id, err := s.Import(ctx, strings.NewReader(document))
		if err != nil || id != "20261121-035352-aaaa" {
			t.Fatal(id, err)
		}
	}
	var b bytes.Buffer
	must(t, s.Export(ctx, "20261121-035352-aaaa", &b))
	if b.String() != document {
		t.Errorf("got %s\nwant %s", b.String(), document)
	}
	other := strings.Replace(document, `"goodput_bps": 1`, `"goodput_bps": 2`, 1)
	if _, err := s.Import(ctx, strings.NewReader(other)); !errors.Is(err, ErrExists) {
		t.Errorf("other content: %v", err)
	}
}

func TestImportOfRunningIsInterrupted(t *testing.T) {
	document, s, ctx := exported(t), open(t), context.Background()
	document = strings.Replace(document, `"state": "done"`, `"state": "running"`, 1)
	id, err := s.Import(ctx, strings.NewReader(document))
	must(t, err)
	if state := get(t, s, id).State; state != trial.Interrupted {
		t.Error(state)
	}
}

func TestImportRefuses(t *testing.T) {
	document, s, ctx := exported(t), open(t), context.Background()
	change := func(old, with string) string { return strings.Replace(document, old, with, 1) }
	for name, text := range map[string]string{
		"empty": "", "rubbish": "{{", "a list": "[]", "cut off": document[:len(document)/2], "two": document + document,
		"newer schema":       change(`"schema_version": 1`, `"schema_version": 2`),
		"no schema":          change(`"schema_version": 1`, `"schema_version": 0`),
		"bad id":             change("20261121-035352-aaaa", "../../etc"),
		"bad state":          change(`"state": "done"`, `"state": "odd"`),
		"condition too high": change(`"condition": 1`, `"condition": 9`),
		"odd metric":         change(`"goodput_bps": 1`, `"x\"><script>alert(1)</script>": 1`),
		"odd series":         change(`"series": {}`, `"series": {"x y": {"step_s": 1, "values": [1]}}`),
		"odd histogram":      change(`"histograms": {}`, `"histograms": {"": "x"}`),
		"trial twice":        change(`"condition": 1`, `"condition": 0`),
	} {
		if _, err := s.Import(ctx, strings.NewReader(text)); err == nil {
			t.Errorf("%s was imported", name)
		}
	}
	if all, _ := s.List(ctx); len(all) != 0 {
		t.Errorf("something was stored: %+v", all)
	}
}

// TestImportTellsOfATrialTwice, and not that a run of which nothing is stored is missing.
func TestImportTellsOfATrialTwice(t *testing.T) {
	document, s := exported(t), open(t)
	_, err := s.Import(context.Background(), strings.NewReader(strings.Replace(document, `"condition": 1`, `"condition": 0`, 1)))
	if err == nil || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "trial 1 is the second of condition 0, repeat 1, step 0") {
		t.Error(err)
	}
}

func FuzzImport(f *testing.F) {
	f.Add(`{"schema_version":1,"run":"a","state":"done","conditions":[{}],"trials":[{"condition":0}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		run, err := readRun(strings.NewReader(text))
		if err == nil && checkRun(run) != nil {
			t.Errorf("read but not valid: %q", text)
		}
	})
}

// TestImportTellsOfAnOddName, and of where it is.
func TestImportTellsOfAnOddName(t *testing.T) {
	document, s := exported(t), open(t)
	_, err := s.Import(context.Background(), strings.NewReader(strings.Replace(document, `"series": {}`, `"series": {"<b>": {"step_s": 1, "values": [1]}}`, 1)))
	if err == nil || !strings.Contains(err.Error(), `run 20261121-035352-aaaa: trial 0 has a metric called "<b>", and names of metrics are up to`) {
		t.Error(err)
	}
}
