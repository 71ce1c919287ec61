package trial

import (
	"errors"
	"math"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestHistogramRoundTrip(t *testing.T) {
	h := NewHistogram()
	for v := int64(1); v <= 1e9; v = v*3 + 1 {
		_ = h.RecordValue(v)
	}
	text, err := EncodeHistogram(h)
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeHistogram(text)
	if err != nil || !back.Equals(h) {
		t.Errorf("differs after a round trip: %v", err)
	}
}

func TestDecodeRefusesRubbish(t *testing.T) {
	for _, text := range []string{"", "x", "AAAA", "HISTFAAAAAA", "null"} {
		if _, err := DecodeHistogram(text); !errors.Is(err, ErrHistogram) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPercentileOfNothing(t *testing.T) {
	if p := Percentile(NewHistogram(), 50); !math.IsNaN(p) {
		t.Errorf("%v, want NaN", p)
	}
}

func TestMergeKeepsEverySample(t *testing.T) {
	small, large := hdrhistogram.New(1, 1000, 2), NewHistogram()
	_ = small.RecordValue(900)
	_ = large.RecordValues(3e9, 2)
	all := MergeHistograms([]*hdrhistogram.Histogram{small, large})
	if all.TotalCount() != 3 || math.Abs(float64(all.Max())/3e9-1) > 0.001 {
		t.Errorf("%d samples up to %d", all.TotalCount(), all.Max())
	}
	if MergeHistograms(nil) != nil {
		t.Error("nothing merged into something")
	}
}

func FuzzDecodeHistogram(f *testing.F) {
	text, _ := EncodeHistogram(NewHistogram())
	f.Add(text)
	f.Add("rubbish")
	f.Fuzz(func(t *testing.T, text string) {
		if h, err := DecodeHistogram(text); err == nil {
			MergeHistograms([]*hdrhistogram.Histogram{h})
		}
	})
}
