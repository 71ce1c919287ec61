package profile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

// The clocks that samples are taken by.
const (
	// CPUClock is the kernel's own timer: samples are equally far apart in time, and
	// those of idle cores are among them. What cannot be interrupted is sampled when
	// it ends.
	CPUClock = "cpu-clock"
	// Cycles are counted by the processor, while a core works.
	Cycles = "cycles"
)

// ringPages of each core hold the samples of a quarter of a second at 499 Hz, if each
// is as long as can be.
const ringPages = 64

// sampled is what each record has.
const sampled = unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_CPU | unix.PERF_SAMPLE_CALLCHAIN

// events are those of every core.
type events struct {
	clock string
	cores []*core
	// lost records, for which there was no room, as later records tell.
	lost uint64
}

// core is the events of one: the clock that ticks, and what writes the record, which
// may be the clock itself.
type core struct {
	cpu           int
	clock, record int
	// told is whether the record says at any time how many were lost. Kernels before 6.0
	// say it only with the next that there is room for.
	told bool
	ring []byte
}

func openEvents(frequency, pages int, h *hops) (*events, error) {
	cpus, ok := procfs.Root("/").List("sys/devices/system/cpu/online")
	if !ok {
		return nil, errors.New("/sys/devices/system/cpu/online does not tell which cores there are")
	}
	all := &events{clock: clockOf(cpus[0])}
	for _, cpu := range cpus {
		c := &core{cpu: cpu, clock: -1, record: -1}
		all.cores = append(all.cores, c)
		if err := c.open(all.clock, frequency, pages, h); err != nil {
			all.close()
			return nil, fmt.Errorf("sample core %d: %w", cpu, err)
		}
	}
	return all, nil
}

// clockOf a core is the processor's where it counts.
func clockOf(cpu int) string {
	fd, _, err := openEvent(clockAttr(Cycles, 1), cpu)
	if err != nil {
		return CPUClock
	}
	_ = unix.Close(fd)
	return Cycles
}

// tellSymbols has the kernel tell of programs that are loaded meanwhile (the bit
// ksymbol of struct perf_event_attr).
const tellSymbols = unix.CBitFieldMaskBit29

func clockAttr(clock string, frequency int) unix.PerfEventAttr {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: uint64(frequency),
		Sample_type: sampled, Bits: unix.PerfBitDisabled | unix.PerfBitFreq,
	}
	if clock == Cycles {
		attr.Type, attr.Config = unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES
	}
	return attr
}

// open makes the events of a core. With programs, theirs is the record, and the
// clock's own is left out.
func (c *core) open(clock string, frequency, pages int, h *hops) (err error) {
	attr := clockAttr(clock, frequency)
	if h == nil {
		attr.Bits |= tellSymbols
	}
	if c.clock, c.told, err = openEvent(attr, c.cpu); err != nil {
		return err
	}
	c.record = c.clock
	if h != nil {
		if c.record, c.told, err = h.record(c.cpu, c.clock); err != nil {
			return err
		}
	}
	size := (1 + pages) * os.Getpagesize()
	c.ring, err = unix.Mmap(c.record, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return os.NewSyscallError("mmap of a perf event", err)
}

// openEvent of a core, where possible one that tells how many of its records were lost.
func openEvent(attr unix.PerfEventAttr, cpu int) (fd int, told bool, err error) {
	attr.Size = uint32(unsafe.Sizeof(attr))
	attr.Read_format = unix.PERF_FORMAT_LOST
	fd, err = unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if told = err == nil; !told {
		attr.Read_format = 0
		fd, err = unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	return fd, told, os.NewSyscallError("perf_event_open", err)
}

func (e *events) enable(on bool) error {
	request := uint(unix.PERF_EVENT_IOC_DISABLE)
	if on {
		request = unix.PERF_EVENT_IOC_ENABLE
	}
	for _, c := range e.cores {
		if err := unix.IoctlSetInt(c.clock, request, 0); err != nil {
			return fmt.Errorf("switch the sampling of core %d: %w", c.cpu, err)
		}
	}
	return nil
}

// read hands over what the kernel wrote since the last time.
func (e *events) read(take func(record)) {
	for _, c := range e.cores {
		e.lost += c.read(take)
	}
}

// read empties a core's ring (perf_event_open(2), "MMAP layout").
func (c *core) read(take func(record)) (lost uint64) {
	page := (*unix.PerfEventMmapPage)(unsafe.Pointer(&c.ring[0]))
	data := c.ring[os.Getpagesize():]
	head, tail := atomic.LoadUint64(&page.Data_head), page.Data_tail
	for tail < head {
		text := wrapped(data, tail, headerSize)
		size := uint64(parseHeader(text).size)
		if size < headerSize || size > head-tail {
			tail = head // the kernel does not write such
			break
		}
		lost += parseRecord(wrapped(data, tail, size), take)
		tail += size
	}
	atomic.StoreUint64(&page.Data_tail, tail)
	return lost
}

// missing is how many records there was no room for. What was lost last would else be known
// only by a record after it, which may never come.
func (e *events) missing() uint64 {
	told := uint64(0)
	for _, c := range e.cores {
		told += c.missing()
	}
	return max(told, e.lost)
}

// missing of a core: 0 where the kernel tells by records alone.
func (c *core) missing() uint64 {
	b := make([]byte, 16) // the count of the event, and what was lost of it
	if n, err := unix.Read(c.record, b); !c.told || err != nil || n < len(b) {
		return 0
	}
	return binary.NativeEndian.Uint64(b[8:])
}

// wrapped copies what may go on at the beginning of a ring, whose size is a power
// of two.
func wrapped(ring []byte, from, size uint64) []byte {
	at := from % uint64(len(ring))
	out := append([]byte(nil), ring[at:min(at+size, uint64(len(ring)))]...)
	return append(out, ring[:size-uint64(len(out))]...)
}

func (e *events) close() {
	for _, c := range e.cores {
		if c.ring != nil {
			_ = unix.Munmap(c.ring)
		}
		if c.record >= 0 && c.record != c.clock {
			_ = unix.Close(c.record)
		}
		if c.clock >= 0 {
			_ = unix.Close(c.clock)
		}
	}
}
