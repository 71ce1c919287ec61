package engine

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// shimEndsWithin is how long containerd takes at most to end a shim by itself that it has no task of (cleanupTimeout in its runtime/v2).
const shimEndsWithin = 5 * time.Second

// endStray ends the shims of a container that has no task and is no more, of the containerd at an address, that are there after so long.
// Where whoever wants a task hangs up while its shim begins, containerd ends what it began that with, and knows nothing of the shim, which
// waits without end (Start of binary in its runtime/v2).
func endStray(ctx context.Context, id, address string, after time.Duration) {
	for deadline := time.Now().Add(after); ; {
		stray := shims(id, address)
		if len(stray) == 0 {
			return
		}
		over := time.Now().After(deadline)
		for _, s := range stray {
			if over {
				s.kill()
			}
			s.close()
		}
		if over {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// shim is a process that is one, which stays that one until it is closed, and where it listens.
type shim struct {
	fd     int
	socket string
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
		words := strings.Split(string(text), "\x00")
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
		all = append(all, shim{fd, filepath.Join(root, socketOf(at, id))})
	}
	return all
}

// socketOf the shim of a container, by the address of its containerd (SocketAddress in containerd's runtime/v2/shim).
func socketOf(address, id string) string {
	return fmt.Sprintf("/run/containerd/s/%x", sha256.Sum256([]byte(filepath.Join(address, space, id))))
}

// kill it, and take away where it listens, which it cannot do then.
func (s shim) kill() {
	_ = os.Remove(s.socket)
	_ = unix.PidfdSendSignal(s.fd, unix.SIGKILL, nil, 0)
}

func (s shim) close() { _ = unix.Close(s.fd) }

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
