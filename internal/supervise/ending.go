package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// exitEvent is the tracepoint at which a process begins to end. That is before the kernel closes what the process
// holds open, which for sockets of packets takes longer than it takes packets to be missed; who waits for
// a process is told when all of it is over.
const exitEvent = "sched/sched_process_exit"

// foretell that the program ends, as soon as it begins to. Where the kernel does not let that be seen, it is told
// when the program has ended.
func (p *program) foretell(ctx context.Context, pid int) {
	if p.spec.Restart != "always" {
		return // whether it fails depends on how it ends
	}
	for {
		e, err := openEnding(pid)
		if err != nil {
			return // it ends, too
		}
		err = e.wait(ctx)
		e.close()
		if err != nil || ctx.Err() != nil {
			return
		}
		p.told.dies(p.spec.Node) // or has become another program, by another thread
	}
}

// ending is an event of the kernel's: that a process begins to end (perf_event_open(2)).
type ending struct {
	file *os.File
	page []byte
}

func openEnding(pid int) (*ending, error) {
	text, err := os.ReadFile("/sys/kernel/tracing/events/" + exitEvent + "/id")
	if err != nil {
		return nil, err
	}
	id, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return nil, err
	}
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id, Sample: 1, Wakeup: 1}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, pid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("perf_event_open", err)
	}
	// What the kernel writes is not read, but who waits is woken only where there is room for it.
	page, err := unix.Mmap(fd, 0, 2*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("wait for the end of process %d: %w", pid, err)
	}
	return &ending{os.NewFile(uintptr(fd), "ending"), page}, nil
}

// wait until it happens.
func (e *ending) wait(ctx context.Context) error {
	conn, err := e.file.SyscallConn()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = e.file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	written := &(*unix.PerfEventMmapPage)(unsafe.Pointer(&e.page[0])).Data_head
	return conn.Read(func(uintptr) bool { return atomic.LoadUint64(written) > 0 })
}

func (e *ending) close() { _ = errors.Join(unix.Munmap(e.page), e.file.Close()) }
