package process

import (
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// The states of a program.
const (
	Starting = "starting" // runs, not ready yet
	Running  = "ready"    // runs and is ready
	Waiting  = "waiting"  // ended, will be started again
	Ended    = "ended"    // ended and stays so
	Unready  = "unready"  // runs, was ready, and is no more
)

// Status is what the supervisor knows of one program.
type Status struct {
	Node     string `json:"node"`
	State    string `json:"state"`
	PID      int    `json:"pid,omitempty"`
	Restarts int    `json:"restarts"`
	// Failures is how often it ended in a row without having been ready.
	Failures int `json:"failures"`
	// Late tells that it did not become ready in time, or is ready no more.
	Late        bool   `json:"late,omitempty"`
	Fingerprint string `json:"fingerprint"`
	// Message says how the program last ended, or why it is not ready.
	Message string `json:"message,omitempty"`
	// BeganNs and ReadyNs are when it last began, and was ready, by [Clock]; 0 before.
	BeganNs int64 `json:"began_ns,omitempty"`
	ReadyNs int64 `json:"ready_ns,omitempty"`
	// ReadyCommand is what its ready command said last; nil where none is asked as long as the program runs, and before the
	// first answer.
	ReadyCommand *Answer `json:"ready_command,omitempty"`
}

// broken is how often in a row a program ends without having been ready until it is taken to be broken.
const broken = 3

// Broken tells of a program that it will not become ready by itself, or not in time.
func (s Status) Broken() bool { return s.BrokenSince(0) }

// BrokenSince is Broken of one that had failed so often when it was begun again: once more is enough where that was often.
func (s Status) BrokenSince(failures int) bool {
	most := broken
	if failures <= s.Failures {
		most = max(1, broken-failures)
	}
	return s.State != Running && (s.State == Ended || s.Late || s.FailedSince(failures) >= most)
}

// FailedSince is how often it failed in a row since it had so often; it may have been ready in between.
func (s Status) FailedSince(failures int) int {
	if s.Failures < failures {
		return s.Failures
	}
	return s.Failures - failures
}

// EndedWell is how a program ended that has done what it was to do.
const EndedWell = "ended with exit code 0"

// Done tells of a program that it is ready, or has done its work and is not to run again.
func (s Status) Done() bool { return s.State == Running || s.State == Ended && s.Message == EndedWell }

// Answer of a ready command.
type Answer struct {
	// Ready tells that it exited with 0, At when it was.
	Ready bool      `json:"ready"`
	At    time.Time `json:"at,omitzero"`
	// Said is the last line with a letter or digit that it wrote, and how it ended unless that was with 0.
	Said string `json:"said,omitempty"`
	// Unasked is why it could not be asked later; "" where it could.
	Unasked string `json:"unasked,omitempty"`
	// Failures is how often in a row it said no.
	Failures int `json:"failures"`
}

// Clock is the time that processes of this machine agree on and nobody sets, ns.
func Clock() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // cannot fail
	return t.Nano()
}

// The requests.
const (
	OpStatus = "status"
	OpSet    = "set"    // start Programs, or replace those of their nodes
	OpRemove = "remove" // end those of Nodes
	OpWatch  = "watch"  // watch over the Path, or over none
	OpHold   = "hold"   // take nothing for a failure for a while
	OpGoOn   = "go on"  // take failures for what they are again
	OpDrain  = "drain"  // bring the chain up again when no flow goes by an older version of its path, or by replicas that are taken out
	OpStop   = "stop"   // end all, and the supervisor
)

// Request is what a supervisor is asked.
type Request struct {
	Op       string   `json:"op"`
	Programs []Spec   `json:"programs,omitempty"`
	Nodes    []string `json:"nodes,omitempty"`
	Path     *Path    `json:"path,omitempty"`
}

// Version of requests. It goes up when a supervisor from before would leave out a part of what it is told.
const Version = 6

// Reply is what it answers.
type Reply struct {
	// Version of requests that the supervisor knows.
	Version  int      `json:"version,omitempty"`
	Programs []Status `json:"programs"`
	// Path is the fingerprint of the one that is watched, Health what is known of its
	// functions.
	Path   string   `json:"path,omitempty"`
	Health []Health `json:"health,omitempty"`
	// Probes is the signature that probes carry; 0 where nothing is watched.
	Probes uint64 `json:"probes,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Address is the socket of the owner's supervisor.
func Address(owner string) string { return filepath.Join(rundir.Root, owner, "supervisor") }

// SuperviseCommand is the hidden command that is the supervisor.
const SuperviseCommand = "supervise"
