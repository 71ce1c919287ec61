package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// given is what a container of Podman may use since it is not what it was made with: Podman 4 tells that of it all the same, and starts it with that.
type given struct {
	ID string `json:"id"`
	// PID that it has it with; 0 where it did not run, and has it from when it starts.
	PID    int    `json:"pid"`
	Limits Limits `json:"limits"`
}

// given to a container since it was made, by a note that is its own.
func (c Container) given() (g given, is bool) {
	text, err := os.ReadFile(rundir.Limits(c.Owner, c.Node))
	if c.Owner == "" || c.Node != filepath.Base(c.Node) || err != nil || json.Unmarshal(text, &g) != nil {
		return given{}, false
	}
	return g, g.ID == c.ID
}

// limitedSince has a container's limits be those that were given to it, unless somebody else has started it, with others.
func (c *Container) limitedSince() {
	if g, is := c.given(); is && (c.PID == 0 || c.PID == g.PID) {
		c.Limits = g.Limits
	}
}

// limitByPodman is done by its own API: by Docker's its version 4 changes none.
func (d docker) limitByPodman(ctx context.Context, id string, l Limits) error {
	is, err := d.Inspect(ctx, id)
	if err != nil {
		return err
	}
	return d.give(ctx, is, l)
}

// give it now where it runs, and note that.
func (d docker) give(ctx context.Context, is Container, l Limits) error {
	l.HugepageBytes, l.PageBytes = 0, 0 // those are its control group's
	if is.PID != 0 {
		r, err := l.task()
		if err != nil {
			return err
		}
		if err := d.update(ctx, is.ID, withSwap(*r)); err != nil && d.update(ctx, is.ID, *r) != nil { // a kernel may count no swap
			return err
		}
	}
	text, err := json.Marshal(given{is.ID, is.PID, l})
	if err != nil {
		return err
	}
	return rundir.Keep(rundir.Limits(is.Owner, is.Node), text, 0o600)
}

// withSwap is as Podman limits a container that it makes: by memory and swap together, which cannot be less than memory alone.
func withSwap(r specs.LinuxResources) specs.LinuxResources {
	m := *r.Memory
	both := *m.Limit
	if both > 0 {
		both *= 2
	}
	m.Swap = &both
	r.Memory = &m
	return r
}

// again gives a container that has just started what was given to the one before, which was the same.
func (d docker) again(ctx context.Context, is Container) (Container, error) {
	g, has := is.given()
	if !has || is.PID == 0 || g.PID == is.PID {
		return is, nil
	}
	if err := d.give(ctx, is, g.Limits); err != nil {
		return is, err
	}
	is.limitedSince()
	is.furnished()
	return is, nil
}

// update what a container may use that runs (libpod, ContainerUpdateLibpod).
func (d docker) update(ctx context.Context, id string, r specs.LinuxResources) error {
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
	if json.Unmarshal(told, &said) != nil && got.StatusCode == http.StatusNotFound {
		return errors.New("a Podman before 4.3 does not change that; install a newer one, or take the chain down first")
	}
	return errors.New(cmp.Or(said.Message, strings.TrimSpace(string(told)), got.Status))
}
