package builtin

import (
	"fmt"
	"time"

	"nfchain.dev/nfchain/internal/traffic"
)

// outage adds the longest time between two first copies that came, less the mean time between two that were due: the way by time
// stamps of RFC 6201. So counts the time until the first one came, less what the way takes at least. Of two directions it is the one
// that lacked packets for longer. Where nothing had come again when the load was over nobody knows how much longer it would have
// been: then it says so instead.
func outage(s *traffic.Sample, lanes []outcome) {
	var longest, open uint64
	for i := range lanes {
		o := &lanes[i]
		apart := (o.Progress.Stop - o.Progress.Start) / max(1, o.Progress.Sent+o.Unsent)
		longest = max(longest, less(o.Order.Silence, apart))
		if o.Order.Arrivals > 0 {
			longest = max(longest, less(o.Count.First, o.Progress.Start+less(o.Count.Low, 1)+apart))
		}
		open = max(open, less(o.Progress.Stop, max(o.Order.Came, o.Progress.Start)+apart))
	}
	if open > longest {
		s.Warnings = append(s.Warnings, fmt.Sprintf("nothing came in the last %v of the load: what the chain lost had not come back when it was over", time.Duration(open).Round(time.Millisecond)))
		return
	}
	s.Metrics[traffic.OutageMetric] = float64(longest)
}

// less is the difference, and none where that is below zero.
func less(a, b uint64) uint64 { return a - min(a, b) }
