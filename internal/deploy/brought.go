package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// Brought is a container that another runtime has put in the place of a chain's node. It is noted before anything is made
// for it, and until all of that is gone.
type Brought struct {
	// Node of the chain whose place it has.
	Node string `json:"node"`
	// Container is its ID, Network the name of the network that it is put into, and Interface what the runtime calls its
	// interface there: together they are one attachment (CNI 1.1.0, section 2).
	Container string `json:"container"`
	Network   string `json:"network"`
	Interface string `json:"interface"`
	// Devices are the names of the chain's interfaces in it, from west to east.
	Devices []string `json:"devices"`
	// Netns is the path at which the runtime has its network namespace.
	Netns string `json:"netns"`
}

// broughtDir holds a file for each.
func broughtDir(owner string) string { return filepath.Join(StateDir(owner), "brought") }

// NoteBrought notes that a container is to have a node's place.
func NoteBrought(owner string, b Brought) error {
	text, err := json.Marshal(b)
	if err == nil {
		err = rundir.Keep(filepath.Join(broughtDir(owner), b.Node), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("note the container that comes to %s of chain %s: %w", b.Node, owner, err)
	}
	return nil
}

// ForgetBrought forgets it. Where nothing else is known of the chain, nothing of it is left.
func ForgetBrought(owner, node string) error {
	if err := os.Remove(filepath.Join(broughtDir(owner), node)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_ = os.Remove(broughtDir(owner))
	_ = os.Remove(StateDir(owner))
	return nil
}

// Abandoned tells of a chain of which nothing is there but what was noted beside its file: who was about to note that a
// container comes, or took the last away, was killed. The caller holds its lock.
func Abandoned(owner string) bool {
	entries, err := os.ReadDir(StateDir(owner))
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		path := filepath.Join(StateDir(owner), e.Name())
		return path != broughtDir(owner) && path != blocksFile(owner)
	}) {
		return false
	}
	nodes, err := namespacesOf(owner)
	return err == nil && len(nodes) == 0
}

// Stands tells whether anything of a chain or function is there: a namespace of its own, or a container that has its place, since
// all of a chain's nodes may be such. What somebody who was killed had but noted is nothing.
func Stands(owner string) (bool, error) {
	nodes, err := Nodes(owner)
	if err != nil || len(nodes) > 0 {
		return err == nil, err
	}
	if _, err := Recall(owner); errors.Is(err, fs.ErrNotExist) {
		return false, nil // of whatever has a place, nothing was made yet
	}
	of, err := BroughtTo(owner)
	for _, b := range of {
		if b.Seated(owner) {
			return true, err
		}
	}
	return false, err
}

// BroughtTo are the containers that other runtimes have put, or were about to put, into a chain, by node. With an error, those
// of which it could be read.
func BroughtTo(owner string) (map[string]Brought, error) {
	all, failed := map[string]Brought{}, []error{}
	entries, err := os.ReadDir(broughtDir(owner))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue // of one that was killed while it wrote
		}
		text, err := os.ReadFile(filepath.Join(broughtDir(owner), e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var b Brought
		if err == nil {
			err = json.Unmarshal(text, &b)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("read which container has the place of %s of chain %s: %w", e.Name(), owner, err))
			continue
		}
		all[b.Node] = b
	}
	return all, errors.Join(failed...)
}

// AllBrought are all such containers of this machine, by chain. One that has none may have had some when somebody was killed.
// With an error, those of which it could be read.
func AllBrought() (map[string][]Brought, error) {
	entries, err := os.ReadDir(stateRoot)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	all, failed := map[string][]Brought{}, []error{}
	for _, e := range entries {
		of, err := BroughtTo(e.Name())
		if err != nil {
			failed = append(failed, err)
		} else if e.Name() != filepath.Base(rundir.Locks) {
			all[e.Name()] = []Brought{}
		}
		for _, b := range of {
			all[e.Name()] = append(all[e.Name()], b)
		}
	}
	return all, errors.Join(failed...)
}

// Seat gives a container's namespace the name by which it is known as the node's.
func (b Brought) Seat(owner string) error {
	return netns.NameOf(namespace.Brought(owner, b.Node), b.Netns)
}

// Seated tells whether it has that name: until then, another stands in for it.
func (b Brought) Seated(owner string) bool { return netns.Exists(namespace.Brought(owner, b.Node)) }

// There tells whether the runtime still has the container's namespace.
func (b Brought) There(owner string) bool {
	name := namespace.Brought(owner, b.Node)
	return b.Seated(owner) && netns.Identity(b.Netns) == netns.Identity(name)
}

// Unseat takes the owner's interfaces out of a container and its name away.
func (b Brought) Unseat(owner string) error { return unseat(namespace.Brought(owner, b.Node), owner) }

func unseat(name, owner string) error {
	if netns.Exists(name) {
		if err := inside(name, func(h *netns.Handle) error { return link.RemoveAll(h, owner) }); err != nil {
			return err
		}
	}
	return netns.Remove(name)
}

// unseatAll does so with all containers of an owner's.
func unseatAll(owner string) error {
	names, err := netns.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		if of, _, brought := namespace.SplitBrought(name); !brought || of != owner {
			continue
		}
		if err := unseat(name, owner); err != nil {
			return err
		}
	}
	return nil
}

// Reached are the networks that a namespace reaches otherwise than by the owner's interfaces.
func Reached(ref, owner string) ([]netip.Prefix, error) { return reached(ref, owner) }

// addBrought adds what a plan must know of the containers that were brought.
func addBrought(f *plan.Facts, owner string) error {
	all, err := BroughtTo(owner)
	if err != nil {
		return err
	}
	f.Brought = map[string]plan.Brought{}
	for node, b := range all {
		if b.Seated(owner) {
			f.Brought[node] = plan.Brought{Namespace: namespace.Brought(owner, node), Devices: b.Devices}
		}
	}
	return nil
}

// alsoCalled are the plan's namespaces that are of containers, by what tells them from others: their runtimes may have other
// names for them.
func alsoCalled(p *plan.Plan) map[string]bool {
	all := map[string]bool{}
	for _, n := range p.Nodes {
		if n.Brought && !n.Waits {
			all[netns.Identity(n.Namespace)] = true
		}
	}
	return all
}
