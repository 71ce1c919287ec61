package traffic

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
)

// ServerAffinity is the part of an affinity that is for the server's end: all of it, or
// what follows the stroke of "0/1".
func ServerAffinity(affinity string) string {
	if _, server, two := strings.Cut(affinity, "/"); two {
		return server
	}
	return affinity
}

// Cores that an affinity names, at the client's end where it has two parts: none of them
// for "none", all in turn for "spread", else the list.
func Cores(affinity string) []int {
	affinity, _, _ = strings.Cut(affinity, "/")
	switch affinity {
	case "", "none":
		return nil
	case "spread":
		return Allowed()
	}
	list, err := api.ParseCPUList(affinity)
	if err != nil {
		return nil // validated when the load was read
	}
	return list
}

// Allowed are the cores that this program may run on: those of its control group or
// of taskset(1).
func Allowed() (cores []int) {
	cores, err := coresOf(os.Getpid())
	if err != nil {
		return []int{0}
	}
	return cores
}

// CheckAffinity refuses what is none, and cores that this program may not run on.
func CheckAffinity(affinity string) error {
	if wrong := api.AffinityProblem(affinity); affinity != "" && wrong != "" {
		return errors.New(wrong)
	}
	allowed := Allowed()
	for _, core := range append(Cores(affinity), Cores(ServerAffinity(affinity))...) {
		if !slices.Contains(allowed, core) {
			return fmt.Errorf("there is no core %d for this program; it may use %v", core, allowed)
		}
	}
	return nil
}

// coresOf a process's first thread.
func coresOf(pid int) (cores []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &set); err != nil {
		return nil, err
	}
	for core := range 8 * int(unsafe.Sizeof(set)) {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores, nil
}

// bound tells whether a process that was just started runs on these cores alone, as the
// kernel has it.
func bound(pid int, cores []int) error {
	have, err := coresOf(pid)
	if err != nil || len(cores) == 0 {
		return nil // it has ended already, or may run on any
	}
	for _, core := range have {
		if !slices.Contains(cores, core) {
			return fmt.Errorf("the kernel lets it run on cores %v, and the affinity is %v", have, cores)
		}
	}
	return nil
}

// program is the name of what runs in the end, after env with one variable.
func program(args []string) string {
	if args[0] == "env" {
		args = args[2:]
	}
	return netns.Called(args[0])
}
