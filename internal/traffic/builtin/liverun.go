package builtin

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// liveFrames is BPF_F_TEST_XDP_LIVE_FRAMES of linux/bpf.h: what the program decides
// about a frame is done.
const liveFrames = 1 << 1

// testRun begins as the BPF_PROG_TEST_RUN part of union bpf_attr.
type testRun struct {
	program, verdict  uint32
	sizeIn, sizeOut   uint32
	dataIn, dataOut   uint64
	repeat, duration  uint32
	contextIn         uint32
	contextOut        uint32
	contextInAt       uint64
	contextOutAt      uint64
	flags, cpu, batch uint32
	_                 uint32
}

// runLive runs an XDP program on frames made from data as often as asked, on this
// thread, or until a signal comes (EINTR). The kernel looks interfaces up in the
// thread's namespace. The library's own call starts again after signals, by which
// this one is ended.
func runLive(program int, data []byte, repeat, batch uint32) error {
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(&data[0])
	attr := testRun{
		program: uint32(program), sizeIn: uint32(len(data)), dataIn: uint64(uintptr(unsafe.Pointer(&data[0]))),
		repeat: repeat, flags: liveFrames, batch: batch,
	}
	_, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_PROG_TEST_RUN, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	if errno != 0 {
		return errno
	}
	return nil
}
