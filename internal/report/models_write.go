package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// modelsDocument is the object of a run's models; it only ever gains fields.
type modelsDocument struct {
	SchemaVersion int                            `json:"schema_version"`
	Run           string                         `json:"run"`
	Experiment    string                         `json:"experiment,omitempty"`
	Models        trial.List[experiment.Fit]     `json:"models"`
	Rankings      trial.List[experiment.Ranking] `json:"model_rankings"`
	// Notes say which models there could not be, and why.
	Notes trial.List[string] `json:"notes"`
}

// ModelsJSON writes a run's models as one object.
func ModelsJSON(w io.Writer, r Report, notes []string) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(modelsDocument{SchemaVersion: trial.SchemaVersion, Run: r.Run.ID, Experiment: r.Run.Experiment, Models: r.Fits, Rankings: r.Rankings, Notes: notes})
}

// ModelsText writes a run's models for a terminal: which foretells best, then the
// parameters, then each value as measured and as the models have it.
func ModelsText(w io.Writer, r Report, notes []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s of %s: %s\n", r.Run.ID, r.title(), words.Plural(len(r.Fits), "model"))
	for _, t := range []table{r.rankingTable(), r.shortParamsTable(), r.fitTable()} {
		if len(t.Rows) > 0 {
			b.WriteString("\n" + strings.ToUpper(t.Title) + "\n")
			aligned(&b, t)
		}
	}
	for _, f := range r.Fits {
		for _, note := range f.Notes {
			notes = append(notes, f.Name+": "+note)
		}
	}
	section(&b, "NOTES", bulleted(notes))
	_, err := io.WriteString(w, b.String())
	return err
}

// shortParamsTable is [Report.paramsTable] with what the model is worth in the place of
// its notes.
func (r Report) shortParamsTable() table {
	t := r.paramsTable()
	t.Head[len(t.Head)-1] = "worth"
	worth := map[string]string{}
	for _, f := range r.Fits {
		worth[f.Name] = worthOf(f)
	}
	for i := range t.Rows {
		cells := t.Rows[i].Cells
		cells[len(cells)-1] = ""
		if t.Rows[i].Begins {
			cells[len(cells)-1] = worth[cells[0]]
		}
	}
	return t
}

// worthOf a model is where it holds, and how far it is off.
func worthOf(f experiment.Fit) string {
	if f.Range == nil {
		return "not fitted"
	}
	text := fmt.Sprintf("from %s %s to %s", f.Over, raw(f.Range[0]), raw(f.Range[1]))
	if f.MaxError != nil {
		text += ", off by up to " + shareText(f.MaxError.Value)
	}
	if f.HeldOut != nil {
		value, interval := unit{"%", .01}.centred(f.HeldOut.ErrorRatio, f.HeldOut.CI95)
		text += strings.TrimRight(fmt.Sprintf(", held out %s%% %s", value, interval), " ")
	}
	return text
}
