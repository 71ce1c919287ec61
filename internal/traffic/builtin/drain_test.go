package builtin

import (
	"testing"
	"time"

	"nfchain.dev/nfchain/bpf/sink"
)

// came is a count of so many packets, of which some are first copies.
func came(packets, first uint64, low time.Duration) (c sink.ProgramCount) {
	c.Packets, c.Low = packets, uint64(low)+1
	c.Latency[5] = first
	return c
}

func TestDrain(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		drain
		counts map[time.Duration]sink.ProgramCount // at times of change
		over   time.Duration
		cut    bool
	}{
		"all are there":               {drain: drain{sent: 9}, counts: map[time.Duration]sink.ProgramCount{0: came(9, 9, 0)}},
		"copies do not count as such": {drain: drain{sent: 9}, counts: map[time.Duration]sink.ProgramCount{0: came(12, 6, 0), s: came(18, 9, 0)}, over: s + drainCopies},
		"nothing comes":               {drain: drain{sent: 9}, over: 2 * s},
		"nothing yet, as was known":   {drain: drain{sent: 9, held: 5 * s}, counts: map[time.Duration]sink.ProgramCount{4 * s: came(9, 9, 4*s)}, over: 4 * s},
		"nothing, and more was known": {drain: drain{sent: 9, held: 5 * s}, over: 7 * s},
		"the path is slow":            {drain: drain{sent: 9}, counts: map[time.Duration]sink.ProgramCount{0: came(5, 5, 3*s), 3 * s: came(8, 8, 3*s)}, over: 5 * s},
		"a queue goes on":             {drain: drain{sent: 9}, counts: map[time.Duration]sink.ProgramCount{s: came(5, 5, 0), 2*s - drainStep: came(6, 6, 0)}, over: 2 * s, cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			var last sink.ProgramCount
			for now := time.Duration(0); now < 20*s; now += drainStep {
				if found, changed := c.counts[now]; changed {
					last = found
				}
				c.limit = drainLimit
				if c.drain.over(now, last) {
					if now != c.over || c.drain.cut(now, last) != c.cut {
						t.Errorf("over at %v, cut %v; want %v, %v", now, c.drain.cut(now, last), c.over, c.cut)
					}
					return
				}
			}
			t.Error("never over")
		})
	}
}
