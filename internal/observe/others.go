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
	waited  uint64 // ticks of the children that it waited for
	kernel  bool   // a thread of the kernel, whose work may well be the chain's
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
			all[identity{pid, p.started}] = program{p.command, p.parent, p.user + p.system, p.waited, p.flags&kernelThread != 0}
		}
	}
	return all
}

// othersSince is the share of the ticks that went to programs which are neither
// own, nor this process and what it started, nor the kernel's, and the largest of
// them by name. Those that ended in between, such as a compiler's, are in what the one
// that waited for them has of its children, and under its name: the kernel adds to that
// when a child is waited for, all of its life and its own children's.
//
// What cannot be told so: children of a process that lets the kernel bury them (it
// ignores SIGCHLD), whose time is added nowhere, and of one that is the parent of an own
// process too, such as init or the shim of a container, since what ended there may be the
// chain's. Both are left out, so that a chain never counts as others. One whose parent
// ended as well counts with the time from before the first reading, too.
//
// The time of busy cores less that of own processes and of the kernel's would not do:
// what soft interrupts take of idle cores is the chain's work and no process's.
func othersSince(before, after map[identity]program, own map[int]bool, ticks uint64) (float64, []trial.OtherUse) {
	mine := descendants(after, os.Getpid())
	shared, earlier := parents(own, before, after), earlierOfEnded(before, after)
	used := map[string]uint64{}
	var sum uint64
	for id, p := range after {
		if p.kernel || own[id.pid] || mine[id.pid] {
			continue
		}
		// One that is new has used nothing before.
		spent := forward(before[id].ticks, p.ticks)
		if !shared[id.pid] {
			spent += forward(before[id].waited+earlier[id], p.waited)
		}
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

// parents of some processes, in any of the readings.
func parents(of map[int]bool, readings ...map[identity]program) map[int]bool {
	found := map[int]bool{}
	for _, all := range readings {
		for id, p := range all {
			if of[id.pid] {
				found[p.parent] = true
			}
		}
	}
	return found
}

// earlierOfEnded is what processes that have ended since had used before, by the nearest
// of those they came from that has not: it is in what that one's children used, and not
// of this time.
func earlierOfEnded(before, after map[identity]program) map[identity]uint64 {
	by := map[int]identity{}
	for id := range before {
		by[id.pid] = id
	}
	earlier := map[identity]uint64{}
	for id, p := range before {
		if _, lives := after[id]; lives {
			continue
		}
		if from, found := survivor(by[p.parent], by, before, after); found {
			earlier[from] += p.ticks + p.waited
		}
	}
	return earlier
}

// survivor is a process or the nearest of its ancestors that lives. A reading takes a
// while, in which a number may go to another process, so that the way up is bounded.
func survivor(id identity, by map[int]identity, before, after map[identity]program) (identity, bool) {
	for range len(before) {
		if _, lives := after[id]; lives {
			return id, true
		}
		id = by[before[id].parent]
	}
	return identity{}, false
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
