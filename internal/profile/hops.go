package profile

import (
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	bpf "nfchain.dev/nfchain/bpf/profile"
)

// hops are the programs that tell of each sample whose packets a core had. They go
// with this process's descriptors.
type hops struct {
	all   *ebpf.Collection
	links []link.Link
}

// newHops loads and attaches them.
func newHops() (*hops, error) {
	types, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, fmt.Errorf("the kernel does not describe its types (a kernel built with CONFIG_DEBUG_INFO_BTF has them): %w", err)
	}
	h := &hops{}
	if err := h.load(types); err != nil {
		h.close()
		return nil, err
	}
	if err := h.attach(); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *hops) load(types *btf.Spec) error {
	spec, err := bpf.LoadProgram()
	if err != nil {
		return err
	}
	h.all, err = ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{KernelTypes: types}})
	if err != nil {
		return fmt.Errorf("load the programs that tell whose packets a core has: %w", err)
	}
	return nil
}

// attach the programs, those that end a turn first.
func (h *hops) attach() error {
	for _, name := range []string{"softirq_ends", "poll_ends", "softirq_begins", "receive"} {
		l, err := link.AttachTracing(link.TracingOptions{Program: h.all.Programs[name]})
		if err != nil {
			return fmt.Errorf("attach the program %s: %w", name, err)
		}
		h.links = append(h.links, l)
	}
	return nil
}

// record opens the event through which a core's samples are told, and has its clock
// run the program that does. The caller closes it.
func (h *hops) record(cpu, clock int) (fd int, told bool, err error) {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_BPF_OUTPUT, Sample: 1,
		Sample_type: sampled | unix.PERF_SAMPLE_RAW, Bits: tellSymbols,
	}
	if fd, told, err = openEvent(attr, cpu); err != nil {
		return -1, false, err
	}
	err = h.all.Maps["samples"].Put(uint32(cpu), uint32(fd))
	if err == nil {
		err = os.NewSyscallError("PERF_EVENT_IOC_SET_BPF", unix.IoctlSetInt(clock, unix.PERF_EVENT_IOC_SET_BPF, h.all.Programs["sample"].FD()))
	}
	if err != nil {
		return -1, false, errors.Join(err, unix.Close(fd))
	}
	return fd, told, nil
}

// missed samples, of which a program could not tell.
func (h *hops) missed() (n uint64) {
	if h != nil {
		_ = h.all.Variables["missed"].Get(&n) // zero where the kernel cannot tell
	}
	return n
}

func (h *hops) close() {
	if h == nil {
		return
	}
	for _, l := range h.links {
		_ = l.Close()
	}
	if h.all != nil {
		h.all.Close()
	}
}
