package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// given is what a container of Podman may use that is not what Podman tells: its version 4 changes a container that runs, tells of it what it was made
// with all the same, and starts it with that.
type given struct {
	ID string `json:"id"`
	// PID that it has it with; 0 where it did not run, and has it from when it starts.
	PID    int    `json:"pid"`
	Limits Limits `json:"limits"`
	// Told is what Podman told once they were changed, in words: what it tells later that is something else is somebody else's doing, and newer.
	Told string `json:"told"`
	// Unsure is said while they are changed, so that nobody takes for done what was not, or for undone what was.
	Unsure bool `json:"unsure,omitempty"`
}

// unknown is told for the CPUs of a container of which it is not known what it may use, and is what nobody wants.
const unknown = "unknown"

// noteOf a container of nfchain's is the file that has what was given to it.
func noteOf(c Container) (file string, err error) {
	for _, name := range []string{c.Owner, c.Node} {
		if name == "" || name == "." || name == ".." || strings.ContainsRune(name, filepath.Separator) {
			return "", errors.New("it is not nfchain's; rename or remove it")
		}
	}
	return rundir.Limits(c.Owner, c.Node), nil
}

// given to a container, by a note that is its own.
func (c Container) given() (g given, is bool) {
	file, err := noteOf(c)
	if err != nil {
		return given{}, false
	}
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &g) != nil {
		return given{}, false
	}
	return g, g.ID == c.ID
}

// limitedSince has a container's limits, which are those that Podman tells, be those that were given to it, unless somebody else has limited it since,
// or started it.
func (c *Container) limitedSince() {
	c.told = c.Limits.String()
	g, is := c.given()
	switch {
	case !is || c.PID != 0 && c.PID != g.PID:
	case g.Unsure:
		c.Limits = g.Limits
		c.Limits.CPUs = unknown
	case g.Told == c.told:
		c.Limits = g.Limits
	}
}

// limitByPodman is done by its own API: by Docker's its version 4 changes nothing.
func (d docker) limitByPodman(ctx context.Context, id string, l Limits) error {
	is, err := d.Inspect(ctx, id)
	if err != nil {
		return err
	}
	for range 3 {
		wrong := d.give(ctx, is, l)
		if wrong == nil {
			return nil
		}
		again, err := d.Inspect(ctx, id)
		if err != nil || again.PID == is.PID {
			return cmp.Or(err, wrong)
		}
		is = again // it has ended, or begun, meanwhile
	}
	return errors.New("it ends, and begins again, all the while; look at why (nfchain logs), and try again")
}

// give it now where it runs, and note that.
func (d docker) give(ctx context.Context, is Container, l Limits) error {
	l.HugepageBytes, l.PageBytes = 0, 0 // those are its control group's
	file, err := noteOf(is)
	if err != nil {
		return err
	}
	note := func(g given) error {
		text, err := json.Marshal(g)
		if err != nil {
			return err
		}
		return rundir.Keep(file, text, 0o600)
	}
	if is.PID != 0 {
		r, err := l.task()
		if err != nil {
			return err
		}
		if countsSwap(is) {
			r.Memory.Swap = withSwap(*r.Memory.Limit)
		}
		if err := note(given{ID: is.ID, PID: is.PID, Limits: l, Unsure: true}); err != nil {
			return err
		}
		if err := d.update(ctx, is.ID, r); err != nil {
			return err
		}
		if is, err = d.Inspect(ctx, is.ID); err != nil {
			return err
		}
	}
	return note(given{ID: is.ID, PID: is.PID, Limits: l, Told: is.told})
}

// withSwap is what a container may have of memory and swap together, as Podman has it where it makes one: it cannot be less than memory alone.
func withSwap(memory int64) *int64 {
	if memory > 0 {
		memory *= 2
	}
	return &memory
}

// countsSwap tells whether the kernel counts the swap of a container that runs.
func countsSwap(c Container) bool {
	dir, _, err := groupOf(c.PID, c.ID, "memory")
	return err == nil && slices.ContainsFunc([]string{"memory.memsw.limit_in_bytes", "memory.swap.max"}, func(file string) bool {
		_, err := os.Stat(filepath.Join(dir, file))
		return dir != "" && err == nil
	})
}

// again gives a container that has just started what was given to it when it ran before.
func (d docker) again(ctx context.Context, is Container) (Container, error) {
	g, has := is.given()
	if !has || is.PID == 0 || g.PID == is.PID || !g.Unsure && g.Told != is.told {
		return is, nil
	}
	if err := d.give(ctx, is, g.Limits); err != nil {
		return is, err
	}
	return d.Inspect(ctx, is.ID)
}

// update what a container may use that runs (libpod, ContainerUpdateLibpod).
func (d docker) update(ctx context.Context, id string, r *specs.LinuxResources) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	asked, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://podman/v4.3.0/libpod/containers/"+url.PathEscape(id)+"/update", bytes.NewReader(text))
	if err != nil {
		return err
	}
	asked.Header.Set("Content-Type", "application/json")
	dial := d.Dialer()
	by := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}}
	got, err := by.Do(asked)
	if err != nil {
		return err
	}
	defer func() { _ = got.Body.Close() }()
	if got.StatusCode/100 == 2 {
		return nil
	}
	var said struct{ Message string }
	told, _ := io.ReadAll(io.LimitReader(got.Body, 1<<16))
	spoken := json.Unmarshal(told, &said) == nil
	switch {
	case got.StatusCode == http.StatusNotFound && spoken:
		return fmt.Errorf("container %s %w (%s)", id, ErrNotThere, said.Message)
	case got.StatusCode == http.StatusNotFound:
		return errors.New("a Podman before 4.3 does not change that; install a newer one, or take the chain down first")
	}
	return errors.New(cmp.Or(said.Message, strings.TrimSpace(string(told)), got.Status))
}
