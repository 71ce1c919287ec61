// Package adopted takes an existing interface of the host into a namespace for as
// long as a chain is up, and puts it back as it was. What it was is written down
// before it is touched, so that a process killed at any moment loses nothing.
package adopted

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/resource"
)

// ErrNotFound is returned for an interface that is not the host's to give.
var ErrNotFound = errors.New("not found on the host, or taken by another chain; `ip link` lists those there are")

// KindName of adopted interfaces in a plan.
const KindName = "adopted"

// Records is the directory that holds a directory of each owner, in which what
// interfaces were is written down.
const Records = rundir.Root

// Spec of an adopted interface. The resource lives in the host's namespace.
type Spec struct {
	Interface string `json:"interface"`
	Into      string `json:"into"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the interface.
func (s Spec) Key() string { return s.Interface }

// Fingerprint is the namespace it is in, and that it is complete.
func (s Spec) Fingerprint() string { return s.Into + " complete" }

// Commands implements resource.Spec: ip(8) can move an interface, and not write
// down what it was.
func (Spec) Commands(string) []resource.Command { return nil }

// record is what an interface was.
type record struct {
	Interface string `json:"interface"`
	Into      string `json:"into"`
	Up        bool   `json:"up"`
	Alias     string `json:"alias"`
	Addresses []netlink.Addr
	Routes    []netlink.Route
	// Settings of the interface by their path below /proc/sys/net, which begin
	// anew in each namespace.
	Settings map[string]string
}

func path(owner, name string) string { return filepath.Join(Records, owner, "interface-"+name) }

func load(owner, name string) (r record, err error) {
	text, err := os.ReadFile(path(owner, name))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// save writes a record to disk, whole or not at all.
func save(owner string, r record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return rundir.Keep(path(owner, r.Interface), text, 0o600)
}

// list gives the owner's records.
func list(owner string) ([]record, error) {
	names, err := filepath.Glob(filepath.Join(Records, owner, "interface-*"))
	if err != nil {
		return nil, err
	}
	var all []record
	for _, n := range names {
		r, err := load(owner, strings.TrimPrefix(filepath.Base(n), "interface-"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		if err == nil {
			all = append(all, r)
		}
	}
	return all, nil
}

// mark is the alias of an interface while the owner has it.
func mark(owner string) string { return "nfchain-adopted " + owner }

// Owned tells whether an interface with this alias is one that the owner adopted.
func Owned(alias, owner string) bool { return alias == mark(owner) }

// Kind adopts interfaces.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	records, err := list(p.Owner)
	if err != nil {
		return nil, err
	}
	var found []resource.Observed
	for _, r := range records {
		found = append(found, resource.Observed{Key: r.Interface, Fingerprint: observe(r)})
	}
	return found, nil
}

// observe tells whether an interface is where it should be, with its addresses.
func observe(r record) string {
	h, err := netns.Open(r.Into)
	if err != nil {
		return "no namespace"
	}
	defer h.Close()
	l, err := h.LinkByName(r.Interface)
	if err != nil {
		return "elsewhere"
	}
	have, err := h.AddrList(l, netlink.FAMILY_ALL)
	if err != nil || l.Attrs().RawFlags&unix.IFF_UP == 0 {
		return "down"
	}
	for _, want := range r.Addresses {
		if !contains(have, want) {
			return "without " + want.IPNet.String()
		}
	}
	return Spec{Interface: r.Interface, Into: r.Into}.Fingerprint()
}

func contains(have []netlink.Addr, want netlink.Addr) bool {
	for _, a := range have {
		if a.Equal(want) {
			return true
		}
	}
	return false
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	for _, c := range changes {
		var err error
		if c.Op == resource.Delete {
			err = restore(p.Owner, c.Key)
		} else {
			err = adopt(p, c.Spec.(Spec))
		}
		if err != nil {
			return fmt.Errorf("interface %s: %w", c.Key, err)
		}
	}
	return nil
}

// Restore puts the owner's interfaces back, those of one namespace or, with "",
// all of them.
func Restore(owner, from string) error {
	records, err := list(owner)
	if err != nil {
		return err
	}
	for _, r := range records {
		if from != "" && r.Into != from {
			continue
		}
		if err := restore(owner, r.Interface); err != nil {
			return fmt.Errorf("put interface %s back: %w", r.Interface, err)
		}
	}
	return nil
}
