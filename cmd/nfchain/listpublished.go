package main

import (
	"runtime"
	"slices"
	"strings"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/published"
)

// publishedEntry is one line of the list.
type publishedEntry struct {
	ID          string  `json:"id"`
	Title       string  `json:"title"`
	Source      string  `json:"source"`
	At          string  `json:"at"`
	Claims      int     `json:"claims"`
	Conditions  int     `json:"conditions"`
	DurationS   float64 `json:"duration_s"`
	QuickS      float64 `json:"quick_duration_s"`
	Description string  `json:"description"`
}

func (a *app) listPublished(format string) error {
	list := []publishedEntry{}
	for _, id := range published.IDs() {
		entry, err := describePublished(id)
		if err != nil {
			return err
		}
		list = append(list, entry)
	}
	if format == "json" {
		return a.printJSON(struct {
			SchemaVersion int              `json:"schema_version"`
			Experiments   []publishedEntry `json:"experiments"`
		}{1, list})
	}
	w := a.table("ID\tWHERE\tCONDITIONS\tCLAIMS\tTAKES\tQUICK\tWHAT")
	for _, e := range list {
		w.row("%s\t%s\t%d\t%d\t%s\t%s\t%s\n", e.ID, e.At, e.Conditions, e.Claims, rough(e.DurationS), rough(e.QuickS), e.Description)
	}
	return w.end()
}

func describePublished(id string) (publishedEntry, error) {
	f, _, err := readPublished(id)
	if err != nil {
		return publishedEntry{}, err
	}
	x := f.Experiments[0]
	points, err := experiment.Points(experiment.OnCores(x.Spec, runtime.NumCPU()), registry.Words())
	if err != nil {
		return publishedEntry{}, err
	}
	e := publishedEntry{ID: id, Claims: len(x.Spec.Claims), Conditions: len(points), Description: x.Metadata.Description}
	if s := x.Spec.Source; s != nil {
		e.Title, e.Source, e.At = s.Title, s.ID, s.At
	}
	e.DurationS = planned(points, api.Load{})
	if x.Spec.Quick != nil {
		e.QuickS = planned(points, *x.Spec.Quick)
	}
	return e, nil
}

// planned is how long the trials of the points take, s, with a load put over theirs.
func planned(points []experiment.Point, over api.Load) (seconds float64) {
	for _, p := range points {
		l := p.Load.With(over)
		seconds += time.Duration(l.Duration).Seconds() * float64(l.Due())
	}
	return seconds
}

func rough(seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	unit := time.Second
	if seconds >= 2*time.Hour.Seconds() {
		unit = time.Minute
	}
	text := time.Duration(seconds * float64(time.Second)).Round(unit).String()
	if whole, cut := strings.CutSuffix(text, "m0s"); cut {
		text = strings.TrimSuffix(whole+"m", "h0m") + map[bool]string{true: "h"}[strings.HasSuffix(whole, "h0")]
	}
	return text
}

// claimEntry is a statement of a source with the experiments that test it.
type claimEntry struct {
	published.Claim
	// Tested by these experiments.
	Tested trial.List[string] `json:"tested_by"`
}

// listClaims of some sources, or of all where none is named.
func (a *app) listClaims(sources []string, format string) error {
	tested, err := testedBy()
	if err != nil {
		return err
	}
	list := []claimEntry{}
	for _, c := range published.Claims() {
		if len(sources) == 0 || slices.Contains(sources, published.Source(c.ID)) {
			list = append(list, claimEntry{c, tested[c.ID]})
		}
	}
	if format == "json" {
		return a.printJSON(struct {
			SchemaVersion int          `json:"schema_version"`
			Claims        []claimEntry `json:"claims"`
		}{1, list})
	}
	w := a.table("ID\tWHERE\tNEEDS\tTESTED BY\tWHAT")
	for _, c := range list {
		by := "-"
		if len(c.Tested) > 0 {
			by = strings.Join(c.Tested, ", ")
		}
		w.row("%s\t%s\t%s\t%s\t%s\n", c.ID, c.At, c.NeedsText(), by, c.Text)
	}
	return w.end()
}

// testedBy gives the experiments that test each claim of the catalogue.
func testedBy() (map[string][]string, error) {
	by := map[string][]string{}
	for _, id := range published.IDs() {
		f, _, err := readPublished(id)
		if err != nil {
			return nil, err
		}
		for _, c := range f.Experiments[0].Spec.Claims {
			if whole := published.Whole(c.ID); !slices.Contains(by[whole], id) {
				by[whole] = append(by[whole], id)
			}
		}
	}
	return by, nil
}
