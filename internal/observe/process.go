package observe

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

// ticksPerSecond is USER_HZ, the same on every architecture that Go runs on.
const ticksPerSecond = 100

// processTimes is one process at one moment: all its threads, without its
// children.
type processTimes struct {
	command      string
	user, system uint64  // ticks
	waited       uint64  // ticks of the children that have ended and that it waited for, and theirs
	took         *int64  // the same together, ns
	started      uint64  // ticks since boot; with the id it names the process
	peak         *uint64 // largest resident size that it ever had, bytes
	resident     *uint64 // the size at this moment
	cpus         string  // that it may run on, as a list
	parent       int
	flags        uint64
}

// kernelThread is PF_KTHREAD of linux/sched.h.
const kernelThread = 0x00200000

// readProcess is false for a process that is gone.
func readProcess(root procfs.Root, pid int) (processTimes, bool) {
	s, ok := root.Text(fmt.Sprintf("proc/%d/stat", pid))
	if !ok {
		return processTimes{}, false
	}
	p, ok := parseProcess(s)
	p.took = took(root, pid)
	if p.command == ownName {
		p.command = named(root.Link(fmt.Sprintf("proc/%d/exe", pid)), p.command)
	}
	if status, told := root.Text(fmt.Sprintf("proc/%d/status", pid)); told {
		p.peak, p.resident, p.cpus = parseMemory(status, "VmHWM"), parseMemory(status, "VmRSS"), procfs.Field(status, "Cpus_allowed_list")
	}
	return p, ok
}

// took is the CPU time of a process as its own clock has it (clock_getcpuclockid(3)), whose number follows from the process's id: its
// threads' that have ended, too. Only of this machine's.
func took(root procfs.Root, pid int) *int64 {
	// From include/linux/posix-timers_types.h: the id inverted, and the clock of the scheduler in the last bits, of a process.
	const ofScheduler, bits = 2, 3
	var t unix.Timespec
	if root.Path("") != "/" || unix.ClockGettime(int32(^pid)<<bits|ofScheduler, &t) != nil {
		return nil
	}
	ns := t.Nano()
	return &ns
}

// ownName is what the kernel calls a process that executed its program as /proc/self/exe, as nfchain does where another version has been put in
// its place since.
const ownName = "exe"

// named is the name of a program by its path, which has a word behind it where it is deleted (proc_pid_exe(5)); as it was where there is none.
func named(image, was string) string {
	if image = strings.TrimSuffix(image, " (deleted)"); image == "" {
		return was
	}
	return filepath.Base(image)
}

// parseProcess reads /proc/PID/stat (proc_pid_stat(5)). The command stands in
// parentheses and may hold some itself, so the last one closes it.
func parseProcess(s string) (processTimes, bool) {
	opened, closed := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if opened < 0 || closed < opened {
		return processTimes{}, false
	}
	fields := strings.Fields(s[closed+1:])
	if len(fields) < 20 {
		return processTimes{}, false
	}
	p := processTimes{command: strings.ToValidUTF8(s[opened+1:closed], "�")}
	// Fields are counted from 1 there, and these begin with the third.
	var parent, user, system uint64
	for field, to := range map[int]*uint64{4: &parent, 9: &p.flags, 14: &p.user, 15: &p.system, 16: &user, 17: &system, 22: &p.started} {
		n, err := strconv.ParseUint(fields[field-3], 10, 64)
		if err != nil {
			return processTimes{}, false
		}
		*to = n
	}
	p.parent, p.waited = int(parent), user+system
	return p, true
}

// parseMemory reads a size of /proc/PID/status; a process that has ended and a
// thread of the kernel have none.
func parseMemory(status, field string) *uint64 {
	size, ok := procfs.ParseMeminfo(status)[field]
	if !ok {
		return nil
	}
	return &size
}

// uptimeTicks is the time since boot; false where it cannot be read.
func uptimeTicks(root procfs.Root) (uint64, bool) {
	s, _ := root.Text("proc/uptime")
	first, _, _ := strings.Cut(s, " ")
	seconds, err := strconv.ParseFloat(first, 64)
	return uint64(seconds * ticksPerSecond), err == nil && seconds >= 0 && seconds < maxTicks/ticksPerSecond
}
