package traffic

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// Cores that an affinity names: none of them for "none", all in turn for
// "spread", else the list.
func Cores(affinity string) []int {
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
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &set); err != nil {
		return []int{0}
	}
	for core := range 8 * int(unsafe.Sizeof(set)) {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores
}

// Bound is a command line that runs args on the cores that an affinity names.
func Bound(affinity string, args []string) []string {
	cores := Cores(affinity)
	if len(cores) == 0 {
		return args
	}
	list := make([]string, len(cores))
	for i, c := range cores {
		list[i] = strconv.Itoa(c)
	}
	return append([]string{taskset, "--cpu-list", strings.Join(list, ",")}, args...)
}

// taskset binds a program to cores and then becomes it.
const taskset = "taskset"

// program is the name of what runs in the end, after taskset and env with one
// variable.
func program(args []string) string {
	if args[0] == taskset {
		args = args[3:]
	}
	if args[0] == "env" {
		args = args[2:]
	}
	return filepath.Base(args[0])
}
