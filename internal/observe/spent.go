package observe

import (
	"time"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

// Process is what a process took of the cores since it began, all its threads together and without
// its children.
type Process struct {
	PID     int
	Command string
	// CPU is the time on cores, and Age how long ago it began.
	CPU, Age time.Duration
}

// Processes tells of those that are there still, in the order given.
func Processes(root procfs.Root, pids []int) (all []Process) {
	now, _ := uptimeTicks(root)
	for _, pid := range pids {
		if p, there := readProcess(root, pid); there {
			all = append(all, Process{PID: pid, Command: p.command, CPU: ticked(p.user + p.system), Age: ticked(now - min(now, p.started))})
		}
	}
	return all
}

// ticked is the time of so many ticks.
func ticked(ticks uint64) time.Duration {
	return time.Duration(ticks) * (time.Second / ticksPerSecond)
}
