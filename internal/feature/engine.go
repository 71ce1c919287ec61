package feature

import (
	"context"
	"os"
	"strings"

	"nfchain.dev/nfchain/internal/engine"
)

// engineQuestion asks the engine itself, as whoever makes containers does: a client may be there without one, and one
// without a client.
type engineQuestion struct {
	name, enables string
	// engine is what the engine is called.
	engine string
	// program tells whether one is installed that does not answer, debian is the package that brings it, and unit the
	// service that runs it; "" where its programs are all that there is of it.
	program, debian, unit string
}

var engines = []engineQuestion{
	{ToolDocker, "functions in Docker containers", engine.Docker, "dockerd", "docker.io", "docker"},
	{ToolContainerd, "functions in containers of containerd", engine.Containerd, "containerd", "containerd", "containerd"},
	{ToolPodman, "functions in containers of Podman", engine.Podman, "podman", "podman", "podman"},
	{ToolLXC, "functions in containers of LXC", engine.LXC, "lxc-start", "lxc", ""},
}

func (q engineQuestion) question() question { return question{q.name, q.enables, q.ask} }

// tellsWithin is how many times as long as others an engine that answers may take to tell its version: Podman starts programs for that.
const tellsWithin = 4

func (q engineQuestion) ask(ctx context.Context, env Env) answer {
	if os.Geteuid() != 0 || env.ofOneUser() {
		return no("the network namespaces of its containers are for the machine's root alone to enter", "sudo nfchain …")
	}
	asking, stop := context.WithTimeout(ctx, env.timeout())
	defer stop()
	_, missing := env.look(q.program)
	if missing != nil && q.unit == "" {
		return no(q.program+" is not there", "apt-get install "+q.debian)
	}
	e, err := engine.Open(asking, q.engine)
	if err == nil {
		defer func() { _ = e.Close() }()
		telling, stop := context.WithTimeout(ctx, tellsWithin*env.timeout())
		defer stop()
		var version string
		if version, err = e.Version(telling); err == nil {
			return yes(version)
		}
	}
	why, fix := err.Error(), "look at the engine's log: journalctl -u "+q.unit
	if q.unit == "" {
		fix = "run it by hand and see: " + q.program + " --version"
	}
	if i := strings.LastIndex(why, "; "); i >= 0 { // what to do about it
		why, fix = why[:i], why[i+len("; "):]
	}
	if missing != nil {
		fix = "apt-get install " + q.debian + ", or " + fix
	}
	return no(why, fix)
}
