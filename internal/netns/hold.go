package netns

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// Without root, namespaces live inside a user namespace, and a user namespace
// lives as long as a process in it. That process is the holder: one a user, with
// a network namespace that stands for the host and a /run of its own. Commands
// join it; it ends by itself when no command is connected and nothing is left.

// HoldCommand is the hidden command that is the holder.
const HoldCommand = "hold"

// holderAddress is the holder's socket, with an abstract name.
func holderAddress(uid int) string { return fmt.Sprintf("@nfchain/holder/%d", uid) }

// holderFD is the file descriptor by which a holder gets its socket.
const holderFD = 3

// JoinHolder replaces this process by the same command inside the user's holder,
// starting one if there is none. It only returns an error. The connection to the
// holder stays open across the change, so that the holder knows of the command.
func JoinHolder(args []string) error {
	conn, pid, err := connectHolder()
	if err != nil {
		return err
	}
	raw, err := conn.File() // a duplicate that survives exec once its flag is cleared
	if err != nil {
		return err
	}
	if _, err := unix.FcntlInt(raw.Fd(), unix.F_SETFD, 0); err != nil {
		return err
	}
	enter, err := exec.LookPath("nsenter")
	if err != nil {
		return fmt.Errorf("running without root needs nsenter (package util-linux): %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	words := []string{enter, "--target", fmt.Sprint(pid), "--user", "--mount", "--net", "--wd=.", "--preserve-credentials", "--", self}
	return unix.Exec(enter, append(words, args...), os.Environ())
}

// connectHolder connects to the user's holder and gives its pid.
func connectHolder() (*net.UnixConn, int, error) {
	uid := os.Getuid()
	address := &net.UnixAddr{Name: holderAddress(uid), Net: "unix"}
	ended := make(chan error, 16)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		conn, err := net.DialUnix("unix", nil, address)
		if errors.Is(err, unix.ECONNREFUSED) {
			if err := startHolder(address, ended); err != nil && !errors.Is(err, unix.EADDRINUSE) {
				return nil, 0, err
			}
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		cred, err := rundir.Peer(conn)
		if err != nil {
			return nil, 0, err
		}
		if int(cred.Uid) != uid {
			return nil, 0, fmt.Errorf("user %d has taken the name of this user's nfchain holder (process %d)", cred.Uid, cred.Pid)
		}
		// A holder greets with its pid once it is ready, and says goodbye by closing.
		// The credentials may still name the process that started it.
		var pid int
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := fmt.Fscanln(conn, &pid); err == nil {
			return conn, pid, nil
		}
		_ = conn.Close()
		select {
		case err := <-ended:
			// The namespace was made but not the right to use it (AppArmor).
			return nil, 0, fmt.Errorf("%w: its first process ended: %v", ErrNoUserNamespace, err)
		default:
		}
	}
	return nil, 0, errors.New("the user namespace's holder does not answer")
}

// startHolder starts a holder in namespaces of its own. Its socket is made here,
// because names belong to the network namespace that they are made in.
func startHolder(address *net.UnixAddr, ended chan<- error) error {
	listener, err := net.ListenUnix("unix", address)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	socket, err := listener.File()
	if err != nil {
		return err
	}
	defer func() { _ = socket.Close() }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, HoldCommand)
	cmd.Args[0] = os.Args[0]
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{socket}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true, Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", ErrNoUserNamespace, err)
	}
	go func() { ended <- cmd.Wait() }()
	return nil
}

// ErrNoUserNamespace is returned when the system does not let this user make one.
var ErrNoUserNamespace = errors.New("a user namespace cannot be made")

// Hold is the holder. It returns when it is no longer needed.
func Hold() error {
	file := os.NewFile(holderFD, "holder")
	listener, err := net.FileListener(file)
	if err != nil {
		return fmt.Errorf("hold: %w", err)
	}
	_ = file.Close()
	if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
		return fmt.Errorf("hold: give the user namespace a /run of its own: %w", err)
	}
	if lo, err := netlink.LinkByName("lo"); err == nil {
		_ = netlink.LinkSetUp(lo)
	}
	h := &holder{listener: listener}
	h.idle = time.AfterFunc(idleFor, h.check)
	return h.serve()
}

// idleFor is how long a holder without commands waits for the next.
const idleFor = time.Second

type holder struct {
	listener net.Listener
	mu       sync.Mutex
	commands int
	idle     *time.Timer
}

func (h *holder) serve() error {
	for {
		conn, err := h.listener.Accept()
		if err != nil {
			return nil
		}
		h.mu.Lock()
		h.commands++
		h.mu.Unlock()
		go func() {
			defer h.left()
			defer func() { _ = conn.Close() }()
			if _, err := fmt.Fprintln(conn, os.Getpid()); err == nil {
				_, _ = conn.Read(make([]byte, 1)) // until the command ends
			}
		}()
	}
}

func (h *holder) left() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.commands--
	h.idle.Reset(idleFor)
}

// check ends the holder when no command is connected and no namespace is left.
func (h *holder) check() {
	h.mu.Lock()
	defer h.mu.Unlock()
	names, err := List()
	if h.commands > 0 || err == nil && len(names) > 0 {
		h.idle.Reset(idleFor)
		return
	}
	_ = h.listener.Close()
}
