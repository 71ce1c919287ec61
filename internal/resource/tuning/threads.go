package tuning

import (
	"fmt"

	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// NAPICPUs is the knob that binds the threads of threaded_napi. No field of a file has its
// name: the plan sets it for the placement of softirqs, in whose place such threads are.
const NAPICPUs = "napi_cpus"

// napiCPUs is which cores the threads may use that take packets off an interface's queues.
// They go with the interface, and with what made it have threads; new ones are unbound.
var napiCPUs = knob{name: NAPICPUs, code: "tc", read: readBound, write: writeBound,
	hint: "an interface has such threads while threaded_napi is on and it is up"}

// kthreadd is the process that starts the kernel's threads, and where they are at first.
const kthreadd = 2

func readBound(at *port) (string, error) {
	threads, err := at.threads()
	if err != nil {
		return "", err
	}
	if len(threads) == 0 {
		threads = []int{kthreadd}
	}
	value := ""
	for i, thread := range threads {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(thread, &set); err != nil {
			return "", fmt.Errorf("read the cores of thread %d: %w", thread, err)
		}
		cores := coresIn(&set)
		if i > 0 && cores != value {
			return differs, nil
		}
		value = cores
	}
	return value, nil
}

func writeBound(at *port, value string) error {
	threads, err := at.threads()
	if err != nil {
		return err
	}
	cores, err := api.ParseCPUList(value)
	if err != nil {
		return err
	}
	var set unix.CPUSet
	for _, core := range cores {
		set.Set(core)
	}
	for _, thread := range threads {
		if err := unix.SchedSetaffinity(thread, &set); err != nil {
			return fmt.Errorf("bind thread %d: %w", thread, err)
		}
	}
	return nil
}

func coresIn(set *unix.CPUSet) string {
	var cores []int
	for core := range len(set) * 64 {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return listed(cores)
}

// threads of the interface.
func (at *port) threads() ([]int, error) { return at.NAPIThreads(at.link.Attrs().Index) }
