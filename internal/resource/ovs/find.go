package ovs

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
)

// find the owner's daemons that live in a namespace: processes by program.
func find(owner, ref string) (map[string][]int, error) {
	living, err := netns.Processes([]string{ref})
	if err != nil {
		return nil, err
	}
	return marked(owner, living[ref]), nil
}

// findAt is find in a place.
func findAt(p resource.Place) (map[string][]int, error) {
	living, err := p.Processes(p.Ref)
	return marked(p.Owner, living[p.Ref]), err
}

// marked are those of the processes that carry the owner's mark, by program.
func marked(owner string, pids []int) map[string][]int {
	found := map[string][]int{}
	for _, pid := range pids {
		environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		name, gone := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err != nil || gone != nil {
			continue
		}
		if slices.Contains(strings.Split(string(environment), "\x00"), mark+"="+owner) {
			program := strings.TrimSpace(string(name))
			found[program] = append(found[program], pid)
		}
	}
	return found
}

// strays are the owner's daemons wherever they live: somebody may have taken the name of
// their namespace away (`ip netns delete`), which lives on as long as they do. Those of an
// owner of the same name in a container, or in another user's namespace, are not among them:
// they have other files.
func strays(owner string) (map[string][]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	found := marked(owner, pids)
	for program, pids := range found {
		found[program] = slices.DeleteFunc(pids, func(pid int) bool { return !sees(pid, Dir(owner)) })
		if len(found[program]) == 0 {
			delete(found, program)
		}
	}
	return found, nil
}

// sees tells whether a directory is to a process what it is to this one.
func sees(pid int, dir string) bool {
	own, err := os.Stat(dir)
	if err != nil {
		return false
	}
	theirs, err := os.Stat(fmt.Sprintf("/proc/%d/root%s", pid, dir))
	return err == nil && os.SameFile(own, theirs)
}

// runs lists which of the daemons run, in the order in which they are started.
func runs(found map[string][]int) (those []string) {
	for _, program := range programs {
		if len(found[program]) > 0 {
			those = append(those, program)
		}
	}
	return those
}

// endsWithin is how long killed processes may take to go.
const endsWithin = 10 * time.Second

// end the daemons that are found, if any run.
func end(find func() (map[string][]int, error)) error {
	for deadline := time.Now().Add(endsWithin); ; time.Sleep(2 * time.Millisecond) {
		found, err := find()
		if err != nil || len(found) == 0 {
			return err
		}
		for program, pids := range found {
			for _, pid := range pids {
				if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
					return fmt.Errorf("end %s (process %d): %w", program, pid, err)
				}
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("Open vSwitch's processes %v do not end; look at /proc/PID/stack", found)
		}
	}
}
