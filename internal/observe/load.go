package observe

import (
	"context"
	"strconv"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/trial"
)

// busyness is the readings that tell how busy the machine is, at one moment.
type busyness struct {
	at       time.Time
	cores    map[int]coreTimes
	pressure map[string]stalls
	programs map[identity]program
}

// Load watches for a while how busy the machine is, with nothing of nfchain's but
// this process. What cannot be told is absent; nil is that nothing can.
func Load(ctx context.Context, root procfs.Root, over time.Duration) *trial.Load {
	before := readBusyness(root)
	select {
	case <-ctx.Done():
	case <-time.After(over):
	}
	return loadSince(root, before, nil)
}

func readBusyness(root procfs.Root) busyness {
	return busyness{at: time.Now(), cores: readCores(root), pressure: readPressure(root), programs: readPrograms(root)}
}

// loadSince is the load since a reading. The processes of own are the chain's and
// the tools'.
func loadSince(root procfs.Root, before busyness, own map[int]bool) *trial.Load {
	now := readBusyness(root)
	spent := now.at.Sub(before.at)
	l := trial.Load{
		OverS:    spent.Seconds(),
		Average:  parseLoadAverage(text(root, "proc/loadavg")),
		Pressure: pressureSince(before.pressure, now.pressure, spent),
	}
	var ticks uint64
	l.Busy, l.Steal, ticks = busyShares(before.cores, now.cores)
	if len(now.programs) > 0 && ticks > 0 {
		others, largest := othersSince(before.programs, now.programs, own, ticks)
		l.Others, l.Largest = &others, largest
	}
	if l.Average == nil && l.Busy == nil && l.Pressure == nil && l.Others == nil {
		return nil
	}
	return &l
}

func text(root procfs.Root, name string) string {
	s, _ := root.Text(name)
	return s
}

// busyShares are the shares of all cores' time that was not idle, and that was
// stolen, and how many ticks that time was.
func busyShares(before, after map[int]coreTimes) (busy, steal *float64, ticks uint64) {
	var sum coreTimes
	for core, a := range after {
		if b, ok := before[core]; ok {
			d := a.since(b)
			sum.user, sum.system, sum.softirq = sum.user+d.user, sum.system+d.system, sum.softirq+d.softirq
			sum.idle, sum.steal = sum.idle+d.idle, sum.steal+d.steal
		}
	}
	ticks = sum.total()
	if ticks == 0 {
		return nil, nil, 0
	}
	b, s := 1-float64(sum.idle)/float64(ticks), float64(sum.steal)/float64(ticks)
	return &b, &s, ticks
}

// parseLoadAverage reads /proc/loadavg (proc_loadavg(5)).
func parseLoadAverage(s string) *[3]float64 {
	fields := strings.Fields(s)
	if len(fields) < 3 {
		return nil
	}
	var average [3]float64
	for i := range average {
		n, err := strconv.ParseFloat(fields[i], 64)
		if err != nil || !(n >= 0) {
			return nil
		}
		average[i] = n
	}
	return &average
}
