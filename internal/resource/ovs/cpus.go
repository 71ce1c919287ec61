package ovs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature/procfs"
)

// bound is the file that says that the daemons were given CPUs, and which. Without it they
// run where they like, whatever the machine's CPUs are; with it, the kernel is asked.
func bound(owner string) string { return in(owner, "cpus") }

func onCPUs(list string) string {
	if list == "" {
		return ""
	}
	return " on CPUs " + list
}

// note writes down the daemons' CPUs, before they have them.
func (s Spec) note() error {
	if s.CPUs == "" {
		return nil
	}
	return os.WriteFile(bound(s.Owner), []byte(s.CPUs+"\n"), 0o600)
}

// boundTo is the list of CPUs that the kernel has for the daemons, "" where they were given
// none.
func boundTo(owner string, found map[string][]int) (list string, err error) {
	if _, err := os.Stat(bound(owner)); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	for _, thread := range threads(found) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
		if err != nil {
			continue // it has ended
		}
		has := procfs.Field(string(text), "Cpus_allowed_list")
		if list != "" && list != has {
			return list + " and " + has, nil
		}
		list = has
	}
	return cmp.Or(list, "that are not known"), nil
}

// threads of the daemons. Linux has the status of each below /proc, by its own number.
func threads(found map[string][]int) (all []int) {
	for _, pids := range found {
		for _, pid := range pids {
			names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
			for _, name := range names {
				if n, err := strconv.Atoi(filepath.Base(name)); err == nil {
					all = append(all, n)
				}
			}
		}
	}
	return all
}

// move daemons that run to their CPUs: every thread, and those that these start meanwhile.
func move(s Spec, found map[string][]int) error {
	if err := s.note(); err != nil {
		return err
	}
	set, err := setOf(s.CPUs)
	if err != nil {
		return err
	}
	moved := map[int]bool{}
	for more := true; more; {
		more = false
		for _, thread := range threads(found) {
			if moved[thread] {
				continue
			}
			moved[thread], more = true, true
			if err := unix.SchedSetaffinity(thread, &set); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("bind thread %d of Open vSwitch to CPUs %s: %w", thread, cmp.Or(s.CPUs, "of any number"), err)
			}
		}
	}
	if s.CPUs != "" {
		return nil
	}
	if err := os.Remove(bound(s.Owner)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// setOf a list; of none, those that this process may use, as daemons have that it starts.
func setOf(list string) (set unix.CPUSet, err error) {
	if list == "" {
		return set, unix.SchedGetaffinity(os.Getpid(), &set)
	}
	cpus, err := api.ParseCPUList(list)
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	return set, err
}

// OnCPUs is the same, bound to CPUs.
func (s Spec) OnCPUs(list string) Spec {
	s.CPUs = list
	return s
}
