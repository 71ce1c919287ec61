package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/model"
	"nfchain.dev/nfchain/internal/trial"
)

// Rankings set the experiment's models side by side, those of the same trials together,
// by their error at what they were not fitted to. One is best only if it foretells better
// than every other by intervals that hold at once.
func Rankings(spec api.ExperimentSpec, run trial.Run) []Ranking {
	var order []string
	groups := map[string][]rival{}
	for _, m := range spec.Models {
		r, is := rivalOf(spec, m, run)
		if !is {
			continue
		}
		k := r.key()
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	out := []Ranking{}
	for _, k := range order {
		if len(groups[k]) > 1 {
			out = append(out, rank(groups[k]))
		}
	}
	return out
}

// rival is a model with its error at what it was not fitted to.
type rival struct {
	series
	held model.HeldOut
}

// rivalOf is a model that can be ranked. Two factors of which one is fitted make the
// curve of one, so such a model has no place of its own.
func rivalOf(spec api.ExperimentSpec, m api.Model, run trial.Run) (rival, bool) {
	if m.Kind == model.TwoFactor && m.Namespaces == "" {
		return rival{}, false
	}
	s, err := collect(spec.Models, m, run)
	if err != nil {
		return rival{}, false
	}
	held, err := model.Foretell(s.Series)
	return rival{s, held}, err == nil
}

// key is the same for models of the same trials, tried on the same.
func (r rival) key() string {
	words := []string{r.m.Metric, r.over, Describe(r.m.Where)}
	for _, l := range r.Levels {
		words = append(words, fmt.Sprint(l.X, l.Flows, l.Left))
	}
	return strings.Join(words, "|")
}

// rank orders models by their errors.
func rank(rivals []rival) Ranking {
	slices.SortStableFunc(rivals, func(a, b rival) int { return cmp.Compare(a.held.Error.Value, b.held.Error.Value) })
	first := rivals[0]
	out := Ranking{Metric: first.m.Metric, Over: first.over, Where: first.m.Where}
	level := 1 - 0.05/float64(len(rivals)-1)
	var close []string
	for i, r := range rivals {
		ranked := Ranked{Name: r.m.Name, Kind: r.m.Kind, ErrorRatio: r.held.Error.Value, CI95: r.held.Error.CI95}
		if i > 0 {
			ranked.OverBest = first.against(r, level)
			if b := ranked.OverBest; b == nil || b.CI95 == nil || b.CI95[0] <= 1 {
				close = append(close, r.named())
			}
		}
		out.Models = append(out.Models, ranked)
	}
	if len(close) == 0 {
		out.Best = first.m.Name
		out.Reason = first.named() + " foretells better than every other"
		return out
	}
	out.Reason = fmt.Sprintf("cannot be told: %s has the least error, and the trials do not tell it from that of %s", first.named(), strings.Join(close, ", "))
	return out
}

// named is "fading (3.1%)".
func (r rival) named() string { return fmt.Sprintf("%s (%s)", r.m.Name, percent(r.held.Error.Value)) }

// against is another's error over this one's; nil where that is no number.
func (r rival) against(other rival, level float64) *Bounded {
	e, err := model.Better(level, other.Series, r.Series)
	if err != nil || math.IsNaN(e.Value) || math.IsInf(e.Value, 0) {
		return nil
	}
	return &Bounded{e.Value, e.CI95}
}
