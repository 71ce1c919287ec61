package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
)

// shimEndsWithin is how long containerd may take to end a shim that it has no task of any more: as long as its cleanupTimeout for each of two ways
// (Create of TaskManager in its runtime/v2), and some.
const shimEndsWithin = 11 * time.Second

// killedWithin is how long it is waited for the end of one that is killed.
const killedWithin = 5 * time.Second

// endStray ends the shims that are there of a container without a task, of the containerd at an address, where they have not ended after so long.
// Where whoever wants a task hangs up while its shim begins, containerd ends what it began that with, and knows nothing of the shim, which
// waits without end (Start of binary in its runtime/v2). An error says which one is at work still.
func endStray(ctx context.Context, id, address string, after time.Duration) error {
	for by := time.Now().Add(after); ; {
		stray := shims(id, address)
		var wrong []error
		for _, s := range stray {
			wrong = append(wrong, s.end(ctx, by))
		}
		if err := errors.Join(wrong...); len(stray) == 0 || err != nil || time.Now().After(by) {
			return err
		}
	}
}

// shim is a process that is one, with a pidfd that tells of no other one, and where it listens. One that helps only begins one, or clears up
// after it.
type shim struct {
	pid, fd int
	socket  string
	helps   bool
}

// shims of a container, of the containerd at an address, which they may have by another name.
func shims(id, address string) (all []shim) {
	its, err := os.Stat(address)
	if err != nil {
		return nil
	}
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		text, _ := os.ReadFile(name)
		words := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
		at, says := behind(words, "-address")
		if !isShim(words, id) || !says {
			continue
		}
		root := filepath.Join(filepath.Dir(name), "root")
		if of, err := os.Stat(filepath.Join(root, at)); err != nil || !os.SameFile(its, of) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil { // it has ended
			continue
		}
		if again, _ := os.ReadFile(name); string(again) != string(text) || Over(pid) {
			_ = unix.Close(fd)
			continue
		}
		last := words[len(words)-1]
		all = append(all, shim{pid, fd, filepath.Join(root, socketOf(at, id)), last == "start" || last == "delete"})
	}
	return all
}

// socketOf the shim of a container, by the address of its containerd (SocketAddress in containerd's runtime/v2/shim).
func socketOf(address, id string) string {
	return fmt.Sprintf("/run/containerd/s/%x", sha256.Sum256([]byte(filepath.Join(address, space, id))))
}

// end it where it has not ended by a time.
func (s shim) end(ctx context.Context, by time.Time) error {
	defer func() { _ = unix.Close(s.fd) }()
	for !netns.Ended(s.fd, 20*time.Millisecond) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(by):
			return s.kill()
		}
	}
	return nil
}

// kill it, and take away where it listens, which it cannot do then. One that has begun something is left to containerd.
func (s shim) kill() error {
	if begun := children(s.pid); s.helps || len(begun) > 0 {
		return fmt.Errorf("process %d, a shim that containerd says has no task, is at work (processes below it: %v); end that, or start containerd again (systemctl restart containerd)", s.pid, begun)
	}
	_ = unix.PidfdSendSignal(s.fd, unix.SIGKILL, nil, 0)
	_ = netns.Ended(s.fd, killedWithin) // or later, where the machine is that busy
	_ = os.Remove(s.socket)
	return nil
}

// isShim tells whether a process that began with these words is the shim of a container of nfchain's.
func isShim(words []string, id string) bool {
	of, _ := behind(words, "-namespace")
	is, _ := behind(words, "-id")
	return strings.HasPrefix(filepath.Base(words[0]), "containerd-shim") && of == space && is == id
}

// behind is what words say behind an option.
func behind(words []string, option string) (value string, says bool) {
	i := slices.Index(words, option)
	if i < 1 || i+1 >= len(words) {
		return "", false
	}
	return words[i+1], true
}
