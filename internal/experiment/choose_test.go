package experiment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// candidates measures conditions of those means, with noise as a share.
func candidates(r *rand.Rand, noise float64, repeats int, means ...float64) trial.Run {
	var run trial.Run
	for i, y := range means {
		run.Conditions = append(run.Conditions, trial.Condition{Path: trial.PathChain, Factors: map[string]any{"flows": i + 1}})
		for k := range repeats {
			if y > 0 {
				run.Trials = append(run.Trials, trial.Trial{Condition: i, Repeat: k + 1, Metrics: map[string]float64{metric: y * (1 + noise*r.NormFloat64())}})
			}
		}
	}
	return run
}

// TestCalibrationOnOldKernels begins without what they lack, and tries it all the same, so
// that it is listed.
func TestCalibrationOnOldKernels(t *testing.T) {
	starts, coordinates := CalibrationStarts(), Coordinates(2)
	old := starts[len(starts)-1]
	at := slices.IndexFunc(coordinates, func(c Coordinate) bool { return c.Name == "super-packets" })
	for field := range coordinates[at].Settings[0] {
		if _, has := old[field]; has || starts[0][field] == nil {
			t.Errorf("%s: %v and %v", field, starts[0][field], old[field])
		}
	}
	if cells := coordinates[at].Cells(old); len(cells) != 1+len(coordinates[at].Settings) {
		t.Errorf("%v", cells)
	}
}

func TestChoose(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, c := range []struct {
		name  string
		means []float64
		want  int
	}{
		{"what is surely better", []float64{10, 14, 12}, 1},
		{"what is the best already", []float64{14, 10, 12}, 0},
		{"what alone measures anything", []float64{0, 14, 12}, 1},
	} {
		got, err := Choose(candidates(r, 0.01, 8, c.means...), metric, 0)
		if err != nil || got.Condition != c.want || !strings.Contains(got.Why, fmt.Sprintf("flows=%d measures", got.Best+1)) && c.want != 1 {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	if _, err := Choose(candidates(r, 0.01, 1, 1, 2), metric, 0); err == nil {
		t.Error("one repeat cannot be halved, and chose")
	}
}

// TestChooseIsNotFooledByLuck: among many that are alike, the one that was preferred stays,
// in as many cases as the intervals promise.
func TestChooseIsNotFooledByLuck(t *testing.T) {
	r, moved := rand.New(rand.NewPCG(4, 3)), 0
	const cases = 400
	for range cases {
		got, err := Choose(candidates(r, 0.1, 8, 10, 10, 10, 10, 10, 10), metric, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got.Condition != 0 {
			moved++
		}
	}
	if share := float64(moved) / cases; share > 0.06 {
		t.Errorf("%.1f%% of the choices were luck", 100*share)
	}
}
