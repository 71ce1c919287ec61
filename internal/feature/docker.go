package feature

import (
	"context"
	"strings"

	"nfchain.dev/nfchain/internal/engine"
)

// docker is what tells whether an engine is installed that does not answer.
const docker = "dockerd"

// askDocker asks the engine itself, as whoever makes containers does: a client may be there without one, and one without a client.
func askDocker(ctx context.Context, env Env) answer {
	ctx, stop := context.WithTimeout(ctx, env.timeout())
	defer stop()
	e, err := engine.Open(ctx, engine.Docker)
	if err == nil {
		defer func() { _ = e.Close() }()
		var version string
		if version, err = e.Version(ctx); err == nil {
			return yes(version)
		}
	}
	why, fix := err.Error(), "look at the engine's log: journalctl -u docker"
	if i := strings.LastIndex(why, "; "); i >= 0 { // what to do about it
		why, fix = why[:i], why[i+len("; "):]
	}
	if _, missing := env.look(docker); missing != nil {
		fix = "apt-get install docker.io, or " + fix
	}
	return no(why, fix)
}
