package ovs

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
)

// find the owner's daemons that live in a namespace: processes by program.
func find(owner, ref string) (map[string][]int, error) {
	living, err := netns.Processes([]string{ref})
	if err != nil {
		return nil, err
	}
	found := map[string][]int{}
	for _, pid := range living[ref] {
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
	return found, nil
}

// runs lists which of the daemons run, in the order in which they are started.
func runs(found map[string][]int) (programs []string) {
	for _, program := range []string{server, daemon} {
		if len(found[program]) > 0 {
			programs = append(programs, program)
		}
	}
	return programs
}

// endsWithin is how long killed processes may take to go.
const endsWithin = 10 * time.Second

// end the owner's daemons, if any run.
func end(owner, ref string) error {
	for deadline := time.Now().Add(endsWithin); ; time.Sleep(2 * time.Millisecond) {
		found, err := find(owner, ref)
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
