package observe

import (
	"cmp"
	"os"
	"path"
	"slices"
	"strconv"

	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/trial"
)

// program is one process of the machine at one moment.
type program struct {
	command string
	parent  int
	ticks   uint64
	kernel  bool // a thread of the kernel, whose work may well be the chain's
}

// largest is how many of the busiest programs are named.
const largest = 3

// readPrograms reads every process that can be seen.
func readPrograms(root procfs.Root) map[identity]program {
	all := map[identity]program{}
	entries, err := os.ReadDir(root.Path("proc"))
	if err != nil {
		return all
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, ok := parseProcess(text(root, path.Join("proc", e.Name(), "stat"))); ok {
			all[identity{pid, p.started}] = program{p.command, p.parent, p.user + p.system, p.flags&kernelThread != 0}
		}
	}
	return all
}

// othersSince is the share of the ticks that went to programs which are neither
// own, nor this process and what it started, nor the kernel's, and the largest of
// them by name.
func othersSince(before, after map[identity]program, own map[int]bool, ticks uint64) (float64, []trial.OtherUse) {
	mine := descendants(after, os.Getpid())
	used := map[string]uint64{}
	var sum uint64
	for id, p := range after {
		if p.kernel || own[id.pid] || mine[id.pid] {
			continue
		}
		// One that is new has used nothing before.
		spent := forward(before[id].ticks, p.ticks)
		used[p.command] += spent
		sum += spent
	}
	all := []trial.OtherUse{}
	for command, spent := range used {
		if spent > 0 {
			all = append(all, trial.OtherUse{Command: command, Ratio: share(spent, ticks)})
		}
	}
	slices.SortFunc(all, func(a, b trial.OtherUse) int {
		return cmp.Or(cmp.Compare(b.Ratio, a.Ratio), cmp.Compare(a.Command, b.Command))
	})
	return share(sum, ticks), all[:min(largest, len(all))]
}

// share is at most one: the two readings are not of the same moment.
func share(part, whole uint64) float64 { return min(1, float64(part)/float64(whole)) }

// descendants of a process, itself among them.
func descendants(all map[identity]program, root int) map[int]bool {
	mine := map[int]bool{root: true}
	for grew := true; grew; {
		grew = false
		for id, p := range all {
			if mine[p.parent] && !mine[id.pid] {
				mine[id.pid], grew = true, true
			}
		}
	}
	return mine
}
