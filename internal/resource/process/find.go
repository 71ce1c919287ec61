package process

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// A program and all that it starts carry a mark in their environment, so that
// they are found without the supervisor that started them. Some write over theirs, as nginx does for its title: these have
// it as the source of a mount of their own, too.
const mark = "NFCHAIN_PROGRAM"

// MarkOf an environment, as it says whose program this is; "" where it does not.
func MarkOf(environment []string) string {
	for _, line := range environment {
		if strings.HasPrefix(line, mark+"=") {
			return line
		}
	}
	return ""
}

// Mark is the line of a program's environment that says whose it is.
func Mark(owner string, s Spec) string {
	return strings.Join([]string{mark + "=" + owner, s.Node, s.Fingerprint()}, "/")
}

// asks stands in the mark of a ready command where that of a program has a fingerprint, which it never is.
const asks = "asks"

// Asking is the line of the environment of a node's ready command, and outside of containers the source of a mount of its own: it is
// none of the program, and its mark is there so that whoever comes after a killed supervisor ends it, which nobody else would.
func Asking(owner, node string) string {
	return strings.Join([]string{mark + "=" + owner, node, asks}, "/")
}

// unmarked is the whole mark of a ready command as earlier versions ran it.
const unmarked = mark + "="

// Found is a running process with the mark of a program.
type Found struct {
	PID int
	// Node is "" of a ready command of an earlier version's, of which only the namespace tells whose it is.
	Node, Fingerprint string
	// Asks tells that it is no program, but a ready command, or of one.
	Asks bool
	// Leads its session, as a program does that the supervisor started, and few that
	// a program starts.
	Leads bool
	// Began is when it did, in the kernel's ticks since the machine was started.
	Began uint64
}

// Before tells whether a process is older than another. Of two that began in one tick the number tells, though numbers
// begin again when all have been given.
func (f Found) Before(g Found) bool {
	return cmp.Or(cmp.Compare(f.Began, g.Began), cmp.Compare(f.PID, g.PID)) < 0
}

// Find finds every process of the owner's programs in its namespaces.
func Find(owner string) ([]Found, error) { return find(resource.Place{Owner: owner}) }

// find is Find by what is known in a place.
func find(p resource.Place) ([]Found, error) {
	all, err := netns.List()
	if err != nil {
		return nil, err
	}
	var own []string
	for _, name := range all {
		if namespace.Owns(p.Owner, name) {
			own = append(own, name)
		}
	}
	living, err := p.Processes(own...)
	return markedAmong(living, p.Owner), err
}

// FindIn is Find in some namespaces alone.
func FindIn(owner string, refs ...string) ([]Found, error) {
	living, err := netns.Processes(refs)
	return markedAmong(living, owner), err
}

// markedAmong living processes are those with the mark of an owner's program.
func markedAmong(living map[string][]int, owner string) (found []Found) {
	for name, pids := range living {
		for _, pid := range pids {
			environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			if err != nil {
				continue // gone meanwhile
			}
			lines := strings.Split(string(environment), "\x00")
			f, ok := marked(lines, owner)
			switch MarkOf(lines) {
			case "":
				f, ok = marked(sources(pid), owner)
			case unmarked:
				f, ok = Found{Asks: true}, namespace.Owns(owner, name)
			}
			if ok {
				f.PID, f.Leads, f.Began = pid, leads(pid), began(pid)
				found = append(found, f)
			}
		}
	}
	return found
}

// sources of the mounts that a process sees: see proc_pid_mountinfo(5).
func sources(pid int) (all []string) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	for line := range strings.Lines(string(text)) {
		_, behind, _ := strings.Cut(line, " - ")
		if fields := strings.Fields(behind); len(fields) > 1 {
			all = append(all, fields[1])
		}
	}
	return all
}

// marked reads the owner's mark from an environment, or from sources of mounts, among which are those of the program as well where a ready
// command sees what that does.
func marked(lines []string, owner string) (f Found, is bool) {
	for _, line := range lines {
		value, ok := strings.CutPrefix(line, mark+"=")
		if words := strings.Split(value, "/"); ok && len(words) == 3 && words[0] == owner && !(is && f.Asks) {
			f, is = Found{Node: words[1], Fingerprint: words[2], Asks: words[2] == asks}, true
		}
	}
	return f, is
}

func leads(pid int) bool {
	sid, err := unix.Getsid(pid)
	return err == nil && sid == pid
}

// began tells when a process did, 0 where it has gone: see proc_pid_stat(5).
func began(pid int) uint64 {
	const starttime = 19 // behind the name
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= starttime {
		return 0
	}
	ticks, _ := strconv.ParseUint(string(fields[starttime]), 10, 64)
	return ticks
}
