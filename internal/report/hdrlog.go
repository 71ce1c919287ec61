package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"nfchain.dev/nfchain/internal/trial"
)

// HDRLog writes every trial's histograms as one log in the format of HdrHistogram
// (1.3), which its own tools read and plot. A tag is the condition's number, from
// 0 as in JSON, and the metric: "c0:latency_ns".
func HDRLog(w io.Writer, r Report) error {
	out := hdrhistogram.NewHistogramLogWriter(w)
	begin := []func() error{
		func() error { return out.OutputComment("run " + r.Run.ID + " of " + r.title()) },
		out.OutputLogFormatVersion,
		func() error { return out.OutputStartTime(r.Run.CreatedAt.UnixMilli()) },
	}
	name := labels(r.Conditions)
	for i, c := range r.Conditions {
		begin = append(begin, func() error { return out.OutputComment(fmt.Sprintf("c%d: %s", i, name.of(c.Condition))) })
	}
	for _, step := range append(begin, out.OutputLegend) {
		if err := step(); err != nil {
			return err
		}
	}
	for _, t := range r.Run.Trials {
		if err := logTrial(out, t); err != nil {
			return err
		}
	}
	return nil
}

func logTrial(out *hdrhistogram.HistogramLogWriter, t trial.Trial) error {
	for _, stem := range slices.Sorted(maps.Keys(t.Histograms)) {
		h, err := trial.DecodeHistogram(t.Histograms[stem])
		if err != nil {
			continue // the JSON keeps it as it is
		}
		h.SetTag(fmt.Sprintf("c%d:%s", t.Condition, stem))
		h.SetStartTimeMs(t.StartedAt.UnixMilli())
		h.SetEndTimeMs(t.StartedAt.Add(time.Duration(t.DurationS * float64(time.Second))).UnixMilli())
		if err := out.OutputIntervalHistogram(h); err != nil {
			return err
		}
	}
	return nil
}
