package observe

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/trial"
)

// coreTimes is how long a core spent on what since boot, in clock ticks. Time
// given to guests is part of user, as the kernel counts it.
type coreTimes struct {
	user    uint64 // and nice
	system  uint64
	softirq uint64 // and hard interrupts
	idle    uint64 // and waiting for disks
	steal   uint64
}

func readCores(root procfs.Root) map[int]coreTimes {
	s, _ := root.Text("proc/stat")
	return parseStat(s)
}

// parseStat reads the lines of /proc/stat that are about one core (proc(5)).
func parseStat(s string) map[int]coreTimes {
	cores := map[int]coreTimes{}
	for line := range strings.Lines(s) {
		fields := strings.Fields(line)
		if len(fields) < 9 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		core, err := strconv.ParseUint(fields[0][len("cpu"):], 10, 31)
		if err != nil {
			continue // the sum over all cores
		}
		if t, ok := parseTicks(fields[1:9]); ok {
			cores[int(core)] = coreTimes{user: t[0] + t[1], system: t[2], idle: t[3] + t[4], softirq: t[5] + t[6], steal: t[7]}
		}
	}
	return cores
}

// maxTicks is 58 million years; a sum of counters below it does not overflow.
const maxTicks = 1 << 57

func parseTicks(fields []string) (ticks [8]uint64, ok bool) {
	for i, f := range fields {
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil || n > maxTicks {
			return ticks, false
		}
		ticks[i] = n
	}
	return ticks, true
}

// coreUse is the share of the time between two readings, of every core that both
// have. The time is the sum of its parts, so that the shares add up to one.
func coreUse(before, after map[int]coreTimes) []trial.CPUUse {
	use := []trial.CPUUse{}
	for _, core := range slices.Sorted(maps.Keys(after)) {
		b, ok := before[core]
		if !ok {
			continue
		}
		spent := after[core].since(b)
		if total := float64(spent.total()); total > 0 {
			use = append(use, trial.CPUUse{
				CPU:     core,
				User:    float64(spent.user) / total,
				System:  float64(spent.system) / total,
				Softirq: float64(spent.softirq) / total,
				Idle:    float64(spent.idle) / total,
				Steal:   float64(spent.steal) / total,
			})
		}
	}
	return use
}

func (t coreTimes) since(b coreTimes) coreTimes {
	return coreTimes{
		user:    forward(b.user, t.user),
		system:  forward(b.system, t.system),
		softirq: forward(b.softirq, t.softirq),
		idle:    forward(b.idle, t.idle),
		steal:   forward(b.steal, t.steal),
	}
}

func (t coreTimes) total() uint64 { return t.user + t.system + t.softirq + t.idle + t.steal }

// forward is the difference of two times, of which the kernel lets some (idle,
// waiting for disks) step back a little.
func forward(before, after uint64) uint64 {
	if after < before {
		return 0
	}
	return after - before
}
