package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/process"
)

// mark is the line of a program's environment that says whose it is.
func mark(owner string, s process.Spec) string {
	return "NFCHAIN_PROGRAM=" + owner + "/" + s.Node + "/" + s.Fingerprint()
}

// orphan finds the program of this very spec that a killed supervisor left: the
// session leader in the namespace with the mark. Programs of the same node with
// another spec are ended.
func orphan(owner string, s process.Spec) int {
	found, err := netns.Processes([]string{s.Netns})
	if err != nil {
		return 0
	}
	adopted := 0
	for _, pid := range found[s.Netns] {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || !leads(pid) || !bytes.Contains(env, []byte("NFCHAIN_PROGRAM="+owner+"/"+s.Node+"/")) {
			continue
		}
		if adopted == 0 && bytes.Contains(env, []byte(mark(owner, s))) {
			adopted = pid
			continue
		}
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
	return adopted
}

// leads tells whether the process leads its session, as every program we start
// does and none that it starts.
func leads(pid int) bool {
	sid, err := unix.Getsid(pid)
	return err == nil && sid == pid
}

// waitStranger waits for the end of a process that is not a child.
func waitStranger(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return errors.New("ended")
	}
	defer func() { _ = unix.Close(fd) }()
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return errors.New("ended; its exit code went to the supervisor before this one")
		}
	}
}
