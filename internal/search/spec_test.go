package search

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

func TestEveryGoodFileMakesASearch(t *testing.T) {
	const name = "../../api/v1alpha1/testdata/good/search.yaml"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := api.Catalogue{Wirings: map[string]func() any{"veth": func() any { return &struct{}{} }}, Runtimes: []string{"netns"}}.Decode(name, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range f.Experiments {
		spec := Spec(*x.Spec.Load.Search)
		if spec.MaxPps == 0 {
			spec.MaxPps = 1e6
		}
		if _, err := New(spec); err != nil {
			t.Error(err)
		}
	}
}

func TestFilesKnowEveryMethod(t *testing.T) {
	if got := api.SearchMethods(); !reflect.DeepEqual(got, trial.Methods()) {
		t.Errorf("files know %v, and there are %v", got, trial.Methods())
	}
	if len(methods) != len(trial.Methods()) {
		t.Errorf("%d methods are made, of %d", len(methods), len(trial.Methods()))
	}
}

func TestSpecFillsInFromTheGoalItIsLike(t *testing.T) {
	zero := 0.0
	s := Spec(api.Search{Method: trial.MLRsearch, Goals: []api.SearchGoal{
		{Like: "pdr", FinalDuration: api.Duration(2 * time.Second)},
		{Like: "ndr", Name: "strict", ExceedRatio: &zero},
		{Name: "own", FinalDuration: api.Duration(500 * time.Millisecond)},
	}})
	s.MaxPps = 1e6
	got := Complete(s).Goals
	want := trial.List[trial.Goal]{
		{Name: "pdr", FinalDurationS: 2, DurationSumS: 42, LossRatio: 0.005, ExceedRatio: 0.5, WidthRatio: 0.005, InitialDurationS: 1},
		{Name: "strict", FinalDurationS: 1, DurationSumS: 21, WidthRatio: 0.005, InitialDurationS: 1},
		{Name: "own", FinalDurationS: 0.5, DurationSumS: 0.5, WidthRatio: 0.005, InitialDurationS: 0.5},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// The defaults are the standards' own.
func TestDefaults(t *testing.T) {
	for method, want := range map[string]struct {
		durationS float64
		repeats   int
		final     float64
		settle    float64
	}{
		trial.RFC2544Throughput: {60, 1, 60, 5}, trial.RFC2544Latency: {120, 20, 60, 5},
		trial.RFC2544FrameLoss: {60, 1, 60, 5}, trial.RFC2544Recovery: {60, 10, 60, 5},
		trial.RFC9004BackToBack: {60, 50, 60, 5}, trial.RFC2889ForwardingRate: {30, 1, 60, 5},
		trial.TST009: {60, 1, 60, 5}, trial.MLRsearch: {60, 1, 1, 0},
	} {
		s := Complete(trial.Search{Method: method, MaxPps: 1e6})
		if s.DurationS != want.durationS || s.Repeats != want.repeats || s.Goals[0].FinalDurationS != want.final || s.Waits.SettleS != want.settle {
			t.Errorf("%s: %+v", method, s)
		}
		if again := Complete(s); !reflect.DeepEqual(again, s) {
			t.Errorf("%s: complete changes what is complete: %+v", method, again)
		}
	}
}

func TestQuickIsTheSameTwice(t *testing.T) {
	for _, method := range trial.Methods() {
		s := Complete(trial.Search{Method: method, MaxPps: 1e6, Quick: true})
		if s.Goals[0].FinalDurationS != 1 || s.DurationS != 1 || s.Repeats > 3 {
			t.Errorf("%s: %+v", method, s)
		}
		if again := Complete(s); !reflect.DeepEqual(again, s) {
			t.Errorf("%s: %+v, then %+v", method, s, again)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	good := Complete(trial.Search{Method: trial.MLRsearch, MaxPps: 1e6})
	for name, spoil := range map[string]func(*trial.Search){
		"method":     func(s *trial.Search) { s.Method = "guess" },
		"no load":    func(s *trial.Search) { s.MaxPps, s.MinPps = 0, 0 },
		"nan":        func(s *trial.Search) { s.MaxPps = math.NaN() },
		"inf":        func(s *trial.Search) { s.MaxPps = math.Inf(1) },
		"min":        func(s *trial.Search) { s.MinPps = 2e6 },
		"negative":   func(s *trial.Search) { s.MinPps = -1 },
		"throughput": func(s *trial.Search) { s.ThroughputPps = 2e6 },
		"step":       func(s *trial.Search) { s.StepRatio = 2 },
		"repeats":    func(s *trial.Search) { s.Repeats = -1 },
		"wait":       func(s *trial.Search) { s.Waits = &trial.Waits{DrainS: -1} },
		"loss":       func(s *trial.Search) { s.Goals[0].LossRatio = 1 },
		"exceed":     func(s *trial.Search) { s.Goals[0].ExceedRatio = -0.1 },
		"width":      func(s *trial.Search) { s.Goals[0].WidthRatio = 1e-9 },
		"initial":    func(s *trial.Search) { s.Goals[0].InitialDurationS = 90 },
		"final":      func(s *trial.Search) { s.Goals[0].FinalDurationS = math.Inf(1) },
		"goals":      func(s *trial.Search) { s.Method = trial.TST009 },
	} {
		s := good
		s.Goals = append(trial.List[trial.Goal]{}, good.Goals...)
		spoil(&s)
		if _, err := New(s); !errors.Is(err, ErrSpec) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestResultsHaveNoNull(t *testing.T) {
	for _, method := range trial.Methods() {
		m, err := New(trial.Search{Method: method, MaxPps: 1e6})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(m.Result(nil))
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		if string(text) == "" || reflect.DeepEqual(text, []byte("null")) || containsNull(text) {
			t.Errorf("%s: %s", method, text)
		}
	}
}

func containsNull(text []byte) bool {
	var v any
	_ = json.Unmarshal(text, &v)
	return hasNull(v)
}

func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		for _, x := range v {
			if hasNull(x) {
				return true
			}
		}
	case map[string]any:
		for _, x := range v {
			if hasNull(x) {
				return true
			}
		}
	}
	return false
}
