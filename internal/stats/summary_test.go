package stats

import (
	"encoding/json"
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

func TestSummarizeKnownValues(t *testing.T) {
	s := Summarize([]float64{5, 3, 4})
	half := 4.302652729911275 / math.Sqrt(3) // t(2, 0.975)·s/√n, s = 1
	if *s.Mean != 4 || s.Median != 4 || s.N != 3 || s.Method != StudentT {
		t.Fatalf("%+v", s)
	}
	if !near(s.CI95[0], 4-half) || !near(s.CI95[1], 4+half) || !s.Unsettled {
		t.Errorf("interval %v", *s.CI95)
	}
	if s.Confidence != 0 || s.Pooled != nil {
		t.Errorf("fields of percentiles are set: %+v", s)
	}
}

func TestSummarizeSmallAndOdd(t *testing.T) {
	cases := []struct {
		name      string
		in        []float64
		n         int
		interval  bool
		unsettled bool
	}{
		{"nothing", nil, 0, false, true},
		{"one", []float64{7}, 1, false, true},
		{"two alike", []float64{7, 7}, 2, true, false},
		{"always zero", []float64{0, 0, 0}, 3, true, false},
		{"around zero", []float64{-1, 1, 0}, 3, true, true},
		{"negative", []float64{-100, -100.1, -99.9}, 3, true, false},
		{"not finite", []float64{7, math.NaN(), math.Inf(1), 7}, 2, true, false},
	}
	for _, c := range cases {
		s := Summarize(c.in)
		if s.N != c.n || (s.CI95 != nil) != c.interval || s.Unsettled != c.unsettled {
			t.Errorf("%s: %+v", c.name, s)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestSummarizeLeavesItsInput(t *testing.T) {
	xs := []float64{3, 1, 2}
	Summarize(xs)
	if xs[0] != 3 || xs[1] != 1 {
		t.Errorf("reordered to %v", xs)
	}
}

func TestPercentileHasNoMean(t *testing.T) {
	s := SummarizePercentile([]float64{90, 100, 120}, 104)
	if s.Mean != nil || *s.Pooled != 104 || s.Median != 100 || s.Method != OrderStatistics {
		t.Fatalf("%+v", s)
	}
	if *s.CI95 != [2]float64{90, 120} || s.Confidence != 0.75 || !s.Unsettled {
		t.Errorf("%+v", s)
	}
}

func TestPercentileOfManyTrials(t *testing.T) {
	xs := make([]float64, 20)
	for i := range xs {
		xs[i] = 1000 + float64(i)
	}
	s := SummarizePercentile(xs, math.NaN())
	// The tables' interval for the median of 20: from the 6th to the 15th.
	if *s.CI95 != [2]float64{1005, 1014} || s.Confidence != 0 || s.Unsettled || s.Pooled != nil {
		t.Errorf("%+v %v", s, *s.CI95)
	}
	if one := SummarizePercentile(xs[:1], 5); one.CI95 != nil || !one.Unsettled || *one.Pooled != 5 {
		t.Errorf("one trial: %+v", one)
	}
}

func TestRatioWithoutInterval(t *testing.T) {
	if e := RatioInterval([]float64{2}, []float64{1, 1}); e.Value != 0.5 || e.CI95 != nil {
		t.Errorf("one repeat: %+v", e)
	}
	if e := RatioInterval([]float64{0, 0}, []float64{1, 1}); !math.IsNaN(e.Value) || e.CI95 != nil {
		t.Errorf("zero denominator: %+v", e)
	}
	if e := RatioInterval([]float64{-1, 1.5}, []float64{1, 1}); e.CI95 != nil {
		t.Errorf("denominator not told from zero, yet %v", *e.CI95)
	}
	if e := RatioInterval(nil, nil); !math.IsNaN(e.Value) {
		t.Errorf("nothing: %+v", e)
	}
}

func TestRatioOfConstants(t *testing.T) {
	e := RatioInterval([]float64{4, 4}, []float64{1, 1})
	if e.Value != 0.25 || *e.CI95 != [2]float64{0.25, 0.25} {
		t.Errorf("%+v", e)
	}
}

func TestDeltaWithoutInterval(t *testing.T) {
	first := func(m []float64) float64 { return m[0] }
	if e := DeltaInterval(0.95, [][]float64{{3}}, first); e.Value != 3 || e.CI95 != nil {
		t.Errorf("one repeat: %+v", e)
	}
	if e := DeltaInterval(0.95, [][]float64{nil}, first); !math.IsNaN(e.Value) {
		t.Errorf("nothing: %+v", e)
	}
	if e := DeltaInterval(0.95, [][]float64{{2, 2}}, first); *e.CI95 != [2]float64{2, 2} {
		t.Errorf("constant: %+v", e)
	}
}
