package feature

import (
	"context"
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

var perfPart = part{"sampling of a whole core by perf events", "", "CONFIG_PERF_EVENTS"}

// askPerf opens an event that samples the stacks of a core, as a profile does, and
// says by which clock.
func askPerf(_ context.Context, env Env) answer {
	err := openClock(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK)
	paranoid, _ := env.Files.Text("proc/sys/kernel/perf_event_paranoid")
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return no("the kernel refuses "+perfPart.what+" (kernel.perf_event_paranoid is "+paranoid+"): "+err.Error(),
			"run as root of the machine, or sysctl -w kernel.perf_event_paranoid=-1")
	case err != nil:
		return perfPart.answer(env, err)
	case openClock(unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES) == nil:
		return yes("by the processor's cycles")
	}
	return yes("by the kernel's timer: there are no hardware counters")
}

func openClock(kind uint32, clock uint64) error {
	attr := unix.PerfEventAttr{Type: kind, Config: clock, Sample: 1, Sample_type: unix.PERF_SAMPLE_CALLCHAIN,
		Bits: unix.PerfBitDisabled | unix.PerfBitFreq}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("perf_event_open", err)
	}
	return unix.Close(fd)
}
