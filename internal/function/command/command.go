// Package command is a function made of any program of the user's, started in
// the function's namespace and kept running there.
package command

import (
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
)

// Options of a command.
type Options struct {
	// Args are the program and its arguments. Nothing is passed to a shell; for
	// one, say so: ["sh", "-c", "..."]. Default, where the function is a container with an image:
	// what the image runs.
	Args []string `json:"args,omitempty"`
	// Env are variables of its environment, by name.
	Env map[string]string `json:"env,omitempty"`
	// Dir is the working directory, absolute. Default: /.
	Dir string `json:"dir,omitempty"`
	// Restart when it ends: always (default), on-failure or never.
	Restart string `json:"restart,omitempty" jsonschema:"enum=always,enum=on-failure,enum=never"`
	// Ready says when it counts as ready.
	Ready Ready `json:"ready,omitempty"`
	// Tells is a file, absolute, in which the program tells what it has done: counters and gauges in Prometheus' text
	// format, put in place whole by rename(2). show has them, as metrics too. In a namespace it is best in a directory
	// of scratch, which is the program's own.
	Tells string `json:"tells,omitempty"`
	// After are endpoints and functions of the chain whose programs are ready before this one begins,
	// whenever it does, with all replicas and copies of them. Default: all begin at once.
	After []string `json:"after,omitempty"`
	// Scratch are directories, absolute, that the program has for itself in place of the host's: empty when it
	// begins, in memory, and gone when it ends.
	Scratch []string `json:"scratch,omitempty"`
	// Files are in those directories when it begins: their text by their absolute paths. Whatever
	// user it becomes may read them.
	Files map[string]string `json:"files,omitempty"`
	// Transparent has the function be no hop, with no addresses (bump in the wire): the kernel passes nothing on, and the program takes each frame
	// at one of its interfaces, eth0 and eth1, and sends it at the other, as it came or changed. Over wirings veth and ebpf.
	Transparent bool `json:"transparent,omitempty"`
}

//go:embed command.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Ready says when the program counts as ready; by default once it has run for a
// second.
type Ready struct {
	// TCPPort that the program listens on.
	TCPPort int `json:"tcp_port,omitempty"`
	// Command that exits with 0 inside the function while the program is ready. It has 5s to do so.
	Command []string `json:"command,omitempty"`
	// Period after which the command is asked again once the program was ready, at least 1s. Default 10s.
	Period api.Duration `json:"period,omitempty"`
	// Failures is how often in a row the command says no until the program is ready no more. Default 3.
	Failures int `json:"failures,omitempty" jsonschema:"minimum=1"`
	// Timeout for becoming ready, from when the program begins. Default 10s.
	Timeout api.Duration `json:"timeout,omitempty"`
}

// shortestPeriod after which a ready command is asked again.
const shortestPeriod = api.Duration(1e9)

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	var wrong []api.FieldProblem
	add := func(path, format string, args ...any) {
		wrong = append(wrong, api.FieldProblem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if len(o.Args) > 0 && o.Args[0] == "" {
		add("args[0]", "is the program to run; it is empty")
	}
	for i, a := range o.Args {
		if strings.ContainsRune(a, 0) {
			add(fmt.Sprintf("args[%d]", i), "an argument cannot hold a zero byte")
		}
	}
	for name := range o.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			add("env", "%q is not the name of an environment variable", name)
		}
	}
	if o.Dir != "" && !filepath.IsAbs(o.Dir) {
		add("dir", "%q is not an absolute path", o.Dir)
	}
	if o.Restart != "always" && o.Restart != "on-failure" && o.Restart != "never" {
		add("restart", "%q is not a restart policy; use always, on-failure or never", o.Restart)
	}
	o.checkScratch(add)
	if o.Tells != "" && !isBelowRoot(o.Tells) {
		add("tells", "%q is not an absolute path of a file, without . and ..", o.Tells)
	}
	if o.Ready.TCPPort < 0 || o.Ready.TCPPort > 65535 {
		add("ready.tcp_port", "a port is 1 to 65535")
	}
	if o.Ready.TCPPort != 0 && len(o.Ready.Command) > 0 {
		add("ready", "give tcp_port or command, not both")
	}
	if o.Ready.Period < shortestPeriod {
		add("ready.period", "is at least 1s: a command that is asked more often costs more than it tells")
	}
	if o.Ready.Failures < 1 {
		add("ready.failures", "is how often in a row the command says no, 1 or more")
	}
	return wrong
}

// Follows implements api.Following.
func (o *Options) Follows() (field string, nodes []string) { return "after", o.After }

// Following implements api.Following.
func (o *Options) Following(nodes []string) any {
	other := *o
	other.After = nodes
	return &other
}

// NamesProgram implements api.Programmed.
func (o *Options) NamesProgram() bool { return len(o.Args) > 0 }

// Program implements api.Programmed.
func (*Options) Program() (field, message string) {
	return "args", "name the program to run: args: [program, argument, ...]"
}

// Kind is the command function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "command" }

// Options implements function.Kind.
func (Kind) Options() any {
	return &Options{Restart: "always", Ready: Ready{Timeout: api.Duration(10e9), Period: process.UsualPeriodS * api.Duration(1e9), Failures: process.UsualFailures}}
}

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{Does: "runs a program of yours, watched and started again", Example: `{args: [sleep, infinity]}`}
}

// Requires implements function.Kind.
func (Kind) Requires(any) []string { return nil }

// Acts implements function.Grouped: where its program looks at packets is the program's.
func (Kind) Acts(bool, any) function.Span { return function.Span{} }

// IsTransparent implements function.Transparent.
func (Kind) IsTransparent(options any) bool { return options.(*Options).Transparent }

// Runs implements function.Runner.
func (Kind) Runs(any) bool { return true }

// Capabilities implements function.Capable: what servers need to take a low port and files of their own, and then to become another user.
func (Kind) Capabilities() []string {
	return []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"}
}

// TakesFrames implements function.Framed: a user's program may read what it likes.
func (Kind) TakesFrames() {}

// OnOneArm implements function.OneArmed.
func (Kind) OnOneArm(function.Site, any) error { return nil }

// UsesHugepages implements function.Hugepager: a user's program may be anything.
func (Kind) UsesHugepages() {}

// Contribute implements function.Kind.
func (Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	o := options.(*Options)
	if o.Transparent && (site.West == "" || site.East == "") {
		return nil, errors.New("a command that is transparent is between its chain's nodes, so it cannot stand alone")
	}
	spec := process.Spec{
		Node: site.Node, Netns: site.Namespace, Args: o.Args, Env: environment(o.Env), Dir: o.Dir, Restart: o.Restart,
		Ready: process.Ready{TCPPort: o.Ready.TCPPort, Command: o.Ready.Command, TimeoutS: float64(o.Ready.Timeout) / 1e9},
		After: o.After, Scratch: o.Scratch, Files: o.Files, Tells: o.Tells,
	}
	if len(o.Ready.Command) > 0 {
		spec.Ready.PeriodS, spec.Ready.Failures = float64(o.Ready.Period)/1e9, o.Ready.Failures
	}
	if site.Resources != nil {
		spec.CPUs, spec.MemoryBytes = site.Resources.CPUs, uint64(site.Resources.Memory)
	}
	names := site.Names()
	return []resource.Resource{names, resource.New("", spec, append(slices.Clone(site.Needs), names.ID)...)}, nil
}

func environment(env map[string]string) []string {
	lines := []string{}
	for k, v := range env {
		lines = append(lines, k+"="+v)
	}
	sort.Strings(lines)
	return lines
}
