package engine

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/moby/sys/signal"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
)

// labelStops is the label of a container in which containerd's own tools have what its image says of that, too.
const labelStops = client.StopSignalLabel

// stops is what an image says by which its program is asked to end: a signal's name or number. What is none is as good as nothing said.
func (c *Container) stops(by string) {
	if s, err := signal.ParseSignal(by); err == nil && s > 0 && s <= lastSignal {
		c.StopSignal = s
	}
}

// lastSignal is SIGRTMAX (signal(7)).
const lastSignal = 64

// Grace is how long a program has to end when it is asked to.
const Grace = 3 * time.Second

// Ask the process that leads a program to end, by a signal of its own unless that is 0, and tell whether it does something of its own then.
func Ask(pid int, own syscall.Signal) (heeded bool) {
	by, to := syscall.SIGTERM, -pid
	if own != 0 && own != by {
		by, to = own, pid // which may mean another thing to what it has started
	}
	heeded = heeds(pid, by)
	err := syscall.Kill(to, by)
	Resume(pid) // or it would never end
	return heeded && err == nil
}

// heeds tells whether a process does something of its own when it gets a signal, or keeps it for when it looks, as the small programs do by
// which many images begin (proc_pid_status(5), SigCgt and SigBlk).
func heeds(pid int, signal syscall.Signal) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		name, mask, _ := strings.Cut(line, ":")
		if name != "SigCgt" && name != "SigBlk" {
			continue
		}
		if of, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64); err == nil && of&(1<<(signal-1)) != 0 {
			return true
		}
	}
	return false
}

// End asks the program of a container to end, and waits for that as long as a program has for it. One that has not become its program yet is not
// asked, and one to which that is nothing is not waited for.
func (c Container) End(ctx context.Context) {
	fd, err := unix.PidfdOpen(c.PID, 0)
	if err != nil {
		return // it has ended, or there was none
	}
	defer func() { _ = unix.Close(fd) }()
	if ctx.Err() != nil || !Within(c.PID, c.ID) || Waits(c.PID) || !Ask(c.PID, c.StopSignal) {
		return
	}
	for deadline := time.Now().Add(Grace); ctx.Err() == nil && time.Now().Before(deadline) && !netns.Ended(fd, 20*time.Millisecond); {
	}
}
