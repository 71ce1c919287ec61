package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// The states of a program.
const (
	Starting = "starting" // runs, not ready yet
	Running  = "ready"    // runs and is ready
	Waiting  = "waiting"  // ended, will be started again
	Ended    = "ended"    // ended and stays so
)

// Status is what the supervisor knows of one program.
type Status struct {
	Node        string `json:"node"`
	State       string `json:"state"`
	PID         int    `json:"pid,omitempty"`
	Restarts    int    `json:"restarts"`
	Fingerprint string `json:"fingerprint"`
	// Message says how the program last ended, or why it is not ready.
	Message string `json:"message,omitempty"`
}

// Request is what a supervisor is asked.
type Request struct {
	// Op is status, set (start or replace Programs), remove or stop.
	Op       string `json:"op"`
	Programs []Spec `json:"programs,omitempty"`
}

// Reply is what it answers.
type Reply struct {
	Programs []Status `json:"programs"`
	Error    string   `json:"error,omitempty"`
}

// Address is the supervisor's socket, with an abstract name: it vanishes with
// the supervisor.
func Address(owner string) string { return "@nfchain/supervisor/" + owner }

// SuperviseCommand is the hidden command that is the supervisor.
const SuperviseCommand = "supervise"

// errNone is returned when no supervisor runs.
var errNone = errors.New("no supervisor runs")

// call asks the owner's supervisor.
func call(owner string, r Request) (Reply, error) {
	c, err := net.Dial("unix", Address(owner))
	if errors.Is(err, unix.ECONNREFUSED) {
		return Reply{}, errNone
	}
	if err != nil {
		return Reply{}, err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if err := json.NewEncoder(c).Encode(r); err != nil {
		return Reply{}, fmt.Errorf("ask the supervisor of %s: %w", owner, err)
	}
	var reply Reply
	if err := json.NewDecoder(c).Decode(&reply); err != nil {
		return Reply{}, fmt.Errorf("the supervisor of %s does not answer: %w", owner, err)
	}
	if reply.Error != "" {
		return reply, errors.New(reply.Error)
	}
	return reply, nil
}

// Statuses of the owner's programs; none when no supervisor runs.
func Statuses(owner string) ([]Status, error) {
	reply, err := call(owner, Request{Op: "status"})
	if errors.Is(err, errNone) {
		return nil, nil
	}
	return reply.Programs, err
}

// Stop ends the owner's supervisor and its programs. None running is success.
func Stop(owner string) error {
	ended := watchSupervisor(owner)
	defer ended()
	_, err := call(owner, Request{Op: "stop"})
	if err == nil || errors.Is(err, errNone) {
		return nil
	}
	return killSupervisor(owner)
}

// watchSupervisor gives a function that waits, for a while, until the supervisor
// that runs now has ended.
func watchSupervisor(owner string) func() {
	nothing := func() {}
	c, err := net.Dial("unix", Address(owner))
	if err != nil {
		return nothing
	}
	defer func() { _ = c.Close() }()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return nothing
	}
	fd := -1
	_ = raw.Control(func(s uintptr) {
		if cred, err := unix.GetsockoptUcred(int(s), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil && int(cred.Pid) != os.Getpid() {
			fd, _ = unix.PidfdOpen(int(cred.Pid), 0)
		}
	})
	if fd < 0 {
		return nothing
	}
	return func() {
		defer func() { _ = unix.Close(fd) }()
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10_000)
			if !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}
}

// killSupervisor ends one that does not answer; its programs are found by their
// namespaces.
func killSupervisor(owner string) error {
	c, err := net.Dial("unix", Address(owner))
	if err != nil {
		return nil
	}
	defer func() { _ = c.Close() }()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil && int(cred.Pid) != os.Getpid() {
			_ = unix.Kill(int(cred.Pid), unix.SIGKILL)
		}
	})
}

// Kind keeps programs.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	statuses, err := Statuses(p.Owner)
	if err != nil {
		return nil, err
	}
	var found []resource.Observed
	for _, s := range statuses {
		found = append(found, resource.Observed{Key: s.Node, Fingerprint: s.Fingerprint})
	}
	return found, nil
}

// Apply implements resource.Kind. The supervisor is sent only what changes.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	if err := start(p.Owner); err != nil {
		return err
	}
	for _, c := range changes {
		r := Request{Op: "remove", Programs: []Spec{{Node: c.Key}}}
		if c.Op != resource.Delete {
			r = Request{Op: "set", Programs: []Spec{c.Spec.(Spec)}}
		}
		if _, err := call(p.Owner, r); err != nil {
			return fmt.Errorf("function %s: %w", c.Key, err)
		}
	}
	return nil
}

// start makes sure that a supervisor runs: the same binary, in a session of its
// own, so that it outlives the command that needs it.
func start(owner string) error {
	if _, err := call(owner, Request{Op: "status"}); !errors.Is(err, errNone) {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, SuperviseCommand, owner)
	cmd.Args[0] = os.Args[0]
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the supervisor of %s: %w", owner, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if _, err := call(owner, Request{Op: "status"}); !errors.Is(err, errNone) {
			return err
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the supervisor of %s ended at once: %v", owner, err)
		default:
		}
	}
	return fmt.Errorf("the supervisor of %s did not start within 10 s", owner)
}
