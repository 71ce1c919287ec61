package supervise

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/process"
)

// endLeft kills what programs have left running, in whatever session it is.
func (s *supervisor) endLeft(which func(process.Found) bool) {
	killAll(func() ([]process.Found, error) { return process.Find(s.config.Owner) }, which)
}

// endLeft kills what the program has left running.
func (p *program) endLeft(which func(process.Found) bool) {
	find := func() ([]process.Found, error) { return process.FindIn(p.config.Owner, p.spec.Netns) }
	killAll(find, func(f process.Found) bool { return (f.Node == p.spec.Node || f.Node == "") && which(f) })
}

func all(process.Found) bool { return true }

func asks(f process.Found) bool { return f.Asks }

// killWithin is how long the kernel may take to end what is killed, which on a busy
// machine is not at once.
const killWithin = 5 * time.Second

// killAll kills until nothing is found, for what is killed may just have started
// another.
func killAll(find func() ([]process.Found, error), which func(process.Found) bool) {
	for deadline := time.Now().Add(killWithin); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		found, err := find()
		if err != nil {
			return
		}
		left := false
		for _, f := range found {
			if which(f) {
				left = true
				_ = unix.Kill(f.PID, unix.SIGKILL)
			}
		}
		if !left {
			return
		}
	}
}

// adopt finds the program of this very spec that a killed supervisor left, and
// ends whatever else there is of the node; 0 when there is none.
func (p *program) adopt(left bool) int {
	if !left {
		return 0
	}
	found, err := process.FindIn(p.config.Owner, p.spec.Netns)
	if err != nil || len(found) == 0 {
		return 0
	}
	var adopted process.Found
	for _, f := range found {
		if f.Node == p.spec.Node && f.Leads && !f.Asks && f.Fingerprint == p.spec.Fingerprint() && (adopted.PID == 0 || f.Before(adopted)) {
			adopted = f
		}
	}
	p.endLeft(func(f process.Found) bool { return adopted.PID == 0 || f.Fingerprint != p.spec.Fingerprint() })
	return adopted.PID
}

// errAdopted is how an adopted program ends: the kernel tells how only to the
// process that started it.
var errAdopted = errors.New("ended; its exit code is not known, for a killed supervisor started it")

// waitAdopted waits for the end of a process that is not a child.
func waitAdopted(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return errAdopted
	}
	defer func() { _ = unix.Close(fd) }()
	_ = netns.Ended(fd, netns.Forever)
	return errAdopted
}
