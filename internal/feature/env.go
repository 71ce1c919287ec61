package feature

import (
	"context"
	"os"
	"time"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

// Env is the machine that is asked; a test puts another in its place.
type Env struct {
	// Files is where /proc, /sys and /etc are read.
	Files procfs.Root
	// Path is the directories tools are looked up in, as in $PATH.
	Path string
	// Timeout is how long a tool or the kernel may take to answer; 0 is 5 s.
	Timeout time.Duration
}

// defaultTimeout is far above what any answer takes on a busy machine, and still
// short enough to wait for.
const defaultTimeout = 5 * time.Second

// Host is this machine as the environment describes it.
func Host() Env {
	return Env{Files: "/", Path: os.Getenv("PATH")}
}

// asking asks for one feature.
type asking func(context.Context, Env) answer

func (e Env) timeout() time.Duration {
	if e.Timeout > 0 {
		return e.Timeout
	}
	return defaultTimeout
}

// real tells whether the files read are this machine's own.
func (e Env) real() bool { return e.Files == "" || e.Files == "/" }
