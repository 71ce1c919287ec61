package watch

import (
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// alarm wakes who waits for it. It is a timer of the kernel's (timerfd_create(2)), which wakes the one thread that
// then looks; one of Go's wakes others too, each time, and that is most of what watching at rest would cost.
type alarm struct {
	file *os.File
	conn syscall.RawConn
	// at is when it is to ring. What the connection is asked to do is made once, and not each time.
	at   unix.ItimerSpec
	put  func(fd uintptr)
	rang func(fd uintptr) bool
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a timer: %w", err)
	}
	a := &alarm{file: os.NewFile(uintptr(fd), "alarm")}
	if a.conn, err = a.file.SyscallConn(); err != nil {
		_ = a.file.Close()
		return nil, fmt.Errorf("make a timer: %w", err)
	}
	a.put = func(fd uintptr) {
		_, _, _ = unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&a.at)), 0, 0, 0) // it fails for no time
	}
	times := new([8]byte)
	a.rang = func(fd uintptr) bool {
		_, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(times)), unsafe.Sizeof(*times))
		return errno != unix.EAGAIN
	}
	return a, nil
}

// set when it is to ring, instead of when it was set to before: after so long, or at once.
func (a *alarm) set(after time.Duration) {
	a.at.Value = unix.NsecToTimespec(int64(max(after, 1)))
	_ = a.conn.Control(a.put)
}

// wait until it rings.
func (a *alarm) wait() { _ = a.conn.Read(a.rang) }

func (a *alarm) close() { _ = a.file.Close() }
