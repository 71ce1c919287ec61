package supervise_test

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// nobody is another user.
const nobody = 65534

// asNobody runs fn on a thread of another user, which ends with it.
func asNobody(fn func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
			done <- errno
			return
		}
		done <- fn()
	}()
	return <-done
}
