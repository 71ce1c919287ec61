// Package process keeps programs running inside a chain's namespaces, by way of
// one supervisor per chain: a process of the same binary that starts, watches and
// restarts them. Packets need no supervisor; only programs do.
package process

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
)

// KindName of processes in a plan.
const KindName = "process"

// Spec of a program.
type Spec struct {
	// Node is the function whose program it is.
	Node string `json:"node"`
	// Netns is the namespace it runs in.
	Netns string   `json:"netns"`
	Args  []string `json:"args"`
	// Own tells that the program is nfchain itself: the first argument stands for
	// whichever binary supervises it, for its ready command too.
	Own bool     `json:"own,omitempty"`
	Env []string `json:"env"`
	// Dir is the working directory; "" is the root.
	Dir string `json:"dir,omitempty"`
	// Restart is always, on-failure or never.
	Restart string `json:"restart"`
	Ready   Ready  `json:"ready"`
	// CPUs it may use, as a list; "" is all.
	CPUs string `json:"cpus,omitempty"`
	// MemoryNodes that its memory is of; none is any.
	MemoryNodes []int `json:"memory_nodes,omitempty"`
	// MemoryBytes it may map; 0 is any.
	MemoryBytes uint64 `json:"memory_bytes,omitempty"`
	// Of is what a file calls the function, where its node has another name, as those of replicas have; "" where that is the node's.
	Of string `json:"of,omitempty"`
	// After are the functions whose programs are all ready when it begins, however many these are.
	After []string `json:"after,omitempty"`
	// Scratch are directories in memory that it has for itself, and Files what is in them when it
	// begins, by path.
	Scratch []string          `json:"scratch,omitempty"`
	Files   map[string]string `json:"files,omitempty"`
	// Tells is the file, as the program sees it, in which it tells what it has done. Only who asks for that looks there, so
	// that it is no part of the fingerprint.
	Tells string `json:"tells,omitempty"`
	// Container that it is the first process of; nil for one that the supervisor starts by itself.
	Container *Container `json:"container,omitempty"`
}

// Container of an engine, as the plan has it made.
type Container struct {
	Engine string `json:"engine"`
	Name   string `json:"name"`
	// Digest of all that it is made from, but the limits of what it may use.
	Digest string `json:"digest"`
}

// In is the program in a container, of which the rest is the container's.
func (s Spec) In(c container.Spec) Spec {
	s.Container = &Container{c.Engine, c.Name, c.Digest()}
	if len(s.Args) == 0 {
		s.Args = []string{c.Image}
	}
	s.Env, s.Dir, s.CPUs, s.MemoryNodes, s.MemoryBytes = []string{}, "", "", nil, 0
	s.Scratch, s.Files = nil, nil // it has files of its own
	return s
}

// Ready says when a program counts as ready. With nothing set it is ready once
// it has run for a second.
type Ready struct {
	// TCPPort that something in the namespace listens on.
	TCPPort int `json:"tcp_port,omitempty"`
	// Command that exits with 0, run in the namespace.
	Command []string `json:"command,omitempty"`
	// AtOnce has one that does nothing be ready when it begins.
	AtOnce bool `json:"at_once,omitempty"`
	// TimeoutS is how long readiness may take, in seconds.
	TimeoutS float64 `json:"timeout_s"`
	// PeriodS is how long after each answer Command is asked again once the program was ready, in seconds, and Failures
	// how often in a row it then says no until the program is ready no more; 0 where it is asked no more.
	PeriodS  float64 `json:"period_s,omitempty"`
	Failures int     `json:"failures,omitempty"`
}

// What a ready command is asked after, unless a file says otherwise.
const (
	UsualPeriodS  = 10
	UsualFailures = 3
)

// Asked tells whether the command is asked as long as the program runs.
func (r Ready) Asked() bool { return len(r.Command) > 0 && r.PeriodS > 0 }

// Function that the program is of, as a file calls it.
func (s Spec) Function() string { return cmp.Or(s.Of, s.Node) }

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the function's name.
func (s Spec) Key() string { return s.Node }

// Fingerprint is a digest of all that the supervisor is to know, which gives it back. What is usual is left out, so that a program
// goes on that began when ready commands were asked no more.
func (s Spec) Fingerprint() string {
	s.Tells = ""
	if s.Ready.PeriodS == UsualPeriodS && s.Ready.Failures == UsualFailures {
		s.Ready.PeriodS, s.Ready.Failures = 0, 0
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a Spec is plain data
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Commands implements resource.Spec: no command keeps a program running.
func (Spec) Commands(string) []resource.Command { return nil }

// Name of the program for messages.
func (s Spec) Name() string { return strings.Join(s.Args, " ") }
