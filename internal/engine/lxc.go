package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/pkg/oci"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// LXC is the name of the engine that is no service, but the programs of the package lxc, each container with a monitor of its own. What
// containers and images there are is kept in a directory of nfchain's, so that nobody else's are there.
const LXC = "lxc"

const (
	// lxcVariable of the environment names that directory, where it is not lxcUsual.
	lxcVariable = "NFCHAIN_LXC"
	lxcUsual    = "/var/lib/nfchain/lxc"
)

// lxc is that engine.
type lxc struct{ dir string }

// lxcPrograms are those that are used.
var lxcPrograms = []string{"lxc-start", "lxc-attach"}

// lxcTakes is a directory that LXC's configuration can name among others.
var lxcTakes = regexp.MustCompile(`^[A-Za-z0-9/._-]+$`)

func openLXC(context.Context) (Engine, error) {
	for _, name := range lxcPrograms {
		if _, err := exec.LookPath(name); err != nil {
			return nil, fmt.Errorf("the program %s of LXC %w; apt-get install lxc", name, ErrNotThere)
		}
	}
	dir, err := filepath.Abs(cmp.Or(os.Getenv(lxcVariable), lxcUsual))
	switch {
	case err != nil:
		return nil, err
	case !lxcTakes.MatchString(dir):
		return nil, fmt.Errorf("LXC cannot have containers in %q and so %w; set %s to a directory whose name has letters, digits, and ./_- only", dir, ErrNotThere, lxcVariable)
	case os.Geteuid() != 0:
		return nil, fmt.Errorf("LXC %w for a user, whose containers would be the user's own; be root", ErrNotThere)
	}
	return lxc{dir}, nil
}

func (lxc) Name() string { return LXC }

func (l lxc) Host() string { return l.dir }

func (lxc) Close() error { return nil }

func (l lxc) Version(ctx context.Context) (string, error) {
	text, err := l.tool(ctx, "lxc-start", "--version")
	return strings.TrimSpace(text), err
}

// tool runs one of LXC's programs and gives what it says. One that hangs is ended.
func (lxc) tool(ctx context.Context, name string, args ...string) (string, error) {
	ctx, stop := context.WithTimeoutCause(ctx, answersWithin, fmt.Errorf("it has not ended within %v", answersWithin))
	defer stop()
	c := exec.CommandContext(ctx, name, args...)
	c.WaitDelay = time.Second
	text, err := c.CombinedOutput()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("run %s: %w: %s", name, err, strings.TrimSpace(string(text)))
	}
	return string(text), nil
}

// containers is what LXC calls its path: the directory with one for each container.
func (l lxc) containers() string { return filepath.Join(l.dir, "containers") }

// at is a file of a container's.
func (l lxc) at(id, name string) string { return filepath.Join(l.containers(), id, name) }

// The files of a container: what it is, by which it is found, and what LXC is told; those that it sees; and how it ended.
const (
	lxcRecord, lxcConfig, lxcSeccomp = "record.json", "config", "seccomp"
	lxcRoot                          = "root"
	lxcWork                          = "work" // LXC's for an overlay
	lxcEnded, lxcMemory, lxcLog      = "ended", "memory", "log"
)

// record of a container: what it is made from.
type record struct {
	Labels map[string]string `json:"labels"`
	// Below is the directory of the image's files, where the container's are only those that differ.
	Below string   `json:"below,omitempty"`
	Spec  oci.Spec `json:"spec"`
}

func (l lxc) record(id string) (r record, err error) {
	text, err := os.ReadFile(l.at(id, lxcRecord))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return r, fmt.Errorf("container %s %w", id, ErrNotThere)
	}
	if err != nil {
		return r, fmt.Errorf("look at container %s: %w", id, err)
	}
	return r, nil
}

// keep a record, whole or not at all.
func (r record) keep(name string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return rundir.Keep(name, text, 0o600)
}

func (l lxc) List(ctx context.Context, owner string) ([]Container, error) {
	entries, err := os.ReadDir(l.containers())
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) { // who may not look there has none
		return nil, fmt.Errorf("list the containers of LXC: %w", err)
	}
	found, err := ours(entries, func(e os.DirEntry) (Container, error) {
		if strings.HasPrefix(e.Name(), lxcNew) || !e.IsDir() {
			return Container{}, ErrNotThere
		}
		return l.Inspect(ctx, e.Name())
	})
	all := found[:0]
	for _, c := range found {
		if owner == "" || c.Owner == owner {
			all = append(all, c)
		}
	}
	return all, err
}

func (l lxc) Inspect(ctx context.Context, id string) (Container, error) {
	id = idOf(id)
	r, err := l.record(id)
	if err != nil {
		return Container{}, err
	}
	found := Container{Engine: LXC, ID: id, Name: r.Labels[labelName], Image: r.Labels[labelImage], Limits: limitsIn(&r.Spec)}
	found.label(r.Labels)
	found.stops(r.Labels[labelStops])
	if !begun(r.Spec) {
		found.Owner = "" // it has the labels alone
	}
	found.PID, found.Code, found.How = l.state(ctx, id)
	found.furnished()
	return found, nil
}

// Limit changes what runs first, and the record by which it runs the next time.
func (l lxc) Limit(_ context.Context, id string, to Limits) error {
	id = idOf(id)
	err := limitGroups(id, to)
	if err == nil {
		var r record
		if r, err = l.record(id); err == nil {
			to.within(&r.Spec)
			if err = l.configure(id, r); err == nil {
				err = r.keep(l.at(id, lxcRecord))
			}
		}
	}
	if err != nil {
		return fmt.Errorf("limit container %s to %s: %w", id, cmp.Or(to.String(), "nothing"), err)
	}
	return nil
}

func (lxc) Joins() bool { return false }

func (lxc) Writes() bool { return true }

// Logs has nothing to give: what a container writes goes to the function's log.
func (lxc) Logs(context.Context, string, time.Time, func(time.Time, []byte) error) error { return nil }

func (lxc) Reading(c Container) string {
	return "cat " + filepath.Clean(rundir.Log(c.Owner, c.Node))
}
