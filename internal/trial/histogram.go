package trial

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// ErrHistogram is returned for a text that is no histogram.
var ErrHistogram = errors.New("not an HdrHistogram V2 compressed in base64")

// NewHistogram is an empty histogram for durations in nanoseconds, from 1 ns to
// one hour, with three significant digits: no value is off by more than 0.1%.
func NewHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, time.Hour.Nanoseconds(), 3)
}

// EncodeHistogram writes a histogram as [Trial.Histograms] holds it.
func EncodeHistogram(h *hdrhistogram.Histogram) (string, error) {
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encode histogram: %w", err)
	}
	return string(text), nil
}

// DecodeHistogram reads what [EncodeHistogram] writes, or another program that
// keeps to the format. Its error wraps [ErrHistogram].
func DecodeHistogram(text string) (*hdrhistogram.Histogram, error) {
	h, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrHistogram, err)
	}
	return h, nil
}

// Percentile is the value that p percent (0 to 100) of the samples do not
// exceed, in the histogram's unit; NaN where there are no samples.
func Percentile(h *hdrhistogram.Histogram, p float64) float64 {
	if h.TotalCount() == 0 {
		return math.NaN()
	}
	return float64(h.ValueAtPercentile(p))
}

// MergeHistograms adds histograms up into a new one that covers the range and
// has the precision of all of them; nil where there are none.
func MergeHistograms(hs []*hdrhistogram.Histogram) *hdrhistogram.Histogram {
	if len(hs) == 0 {
		return nil
	}
	highest, digits := int64(2), int64(1)
	for _, h := range hs {
		highest, digits = max(highest, h.HighestTrackableValue()), max(digits, h.SignificantFigures())
	}
	all := hdrhistogram.New(1, highest, int(digits))
	for _, h := range hs {
		all.Merge(h)
	}
	return all
}
