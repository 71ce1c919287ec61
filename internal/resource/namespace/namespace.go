// Package namespace makes network namespaces with their settings: the loopback
// interface up, and the sysctls that belong to the namespace alone.
package namespace

import (
	"fmt"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
)

// KindName of namespaces in a plan.
const KindName = "namespace"

// Prefix of every namespace that nfchain makes; what follows is the owner and,
// for a chain, a dot and the node. Owner and node are DNS labels, so the dots
// cannot be mistaken.
const Prefix = "nfchain."

// Name of a chain's node as a namespace.
func Name(owner, node string) string { return Prefix + owner + "." + node }

// Split is the inverse of Name; ok is false for a namespace that is not ours.
func Split(name string) (owner, node string, ok bool) {
	rest, ok := strings.CutPrefix(name, Prefix)
	owner, node, dotted := strings.Cut(rest, ".")
	return owner, node, ok && dotted
}

// BroughtPrefix of the names that nfchain gives to namespaces of containers which other runtimes bring. It is not that of
// its own, in which it ends whatever runs.
const BroughtPrefix = "nfchain-cni."

// Brought is the name of the namespace of a container that was brought for a chain's node.
func Brought(owner, node string) string { return BroughtPrefix + owner + "." + node }

// SplitBrought is the inverse of Brought; ok is false for another namespace.
func SplitBrought(name string) (owner, node string, ok bool) {
	rest, ok := strings.CutPrefix(name, BroughtPrefix)
	owner, node, dotted := strings.Cut(rest, ".")
	return owner, node, ok && dotted
}

// Sysctl is one setting, by its path below /proc/sys with slashes.
type Sysctl struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

// Spec of a namespace.
type Spec struct {
	Name    string   `json:"name"`
	Sysctls []Sysctl `json:"sysctls"`
	// Contained tells that it is made with a container, and has its name from then on.
	Contained bool `json:"contained,omitempty"`
	// Of is another name of it, by which it is there before; "" where it has one. Containers see to that themselves.
	Of string `json:"of,omitempty"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the namespace's name.
func (s Spec) Key() string { return s.Name }

// Fingerprint is every sysctl with its value.
func (s Spec) Fingerprint() string {
	var b strings.Builder
	for _, c := range s.Sysctls {
		fmt.Fprintf(&b, "%s=%s ", c.Path, c.Value)
	}
	return b.String()
}

// Commands implements resource.Spec.
func (s Spec) Commands(string) []resource.Command {
	var out []resource.Command
	switch {
	case s.Contained:
	case s.Of != "":
		out = append(out, resource.Cmd("touch", netns.Path(s.Name)), resource.Cmd("mount", "--bind", netns.Path(s.Of), netns.Path(s.Name)))
	default:
		out = append(out, resource.Cmd("ip", "netns", "add", s.Name))
	}
	out = append(out, resource.IP(s.Name, "link", "set", "lo", "up"))
	for _, c := range s.Sysctls {
		out = append(out, resource.In(s.Name, "sysctl", "-qw", strings.ReplaceAll(c.Path, "/", ".")+"="+c.Value))
	}
	return out
}

// Kind makes namespaces.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read finds the owner's namespaces. What it cannot know without a spec is which
// sysctls matter, so the settings are compared by [Kind.Verify].
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	names, err := netns.List()
	if err != nil {
		return nil, err
	}
	var found []resource.Observed
	for _, name := range names {
		if owner, _, ok := Split(name); ok && owner == p.Owner {
			found = append(found, resource.Observed{Key: name})
		}
	}
	return found, nil
}

// Verify reads the settings of the namespace that the spec describes and gives
// their fingerprint; "" stands for a half-made namespace. Where no interfaces come a setting that
// only those would have, and that takes long to read, counts as being as it should.
func Verify(want Spec, interfacesCome bool) string {
	if !netns.Exists(want.Name) || want.astray() {
		return ""
	}
	have := Spec{Name: want.Name}
	_ = netns.Do(want.Name, func() error {
		var t tree
		defer t.close()
		for _, c := range want.Sysctls {
			if c.Path == addressMode && !interfacesCome {
				have.Sysctls = append(have.Sysctls, c)
				continue
			}
			value, err := t.read(c.Path)
			if err != nil {
				value = "?"
			}
			have.Sysctls = append(have.Sysctls, Sysctl{c.Path, value})
		}
		return nil
	})
	return have.Fingerprint()
}

// Apply implements resource.Kind.
func (Kind) Apply(_ resource.Place, changes []resource.Change) error {
	for _, c := range changes {
		if err := apply(c); err != nil {
			return err
		}
	}
	return nil
}

func apply(c resource.Change) error {
	if c.Op == resource.Delete {
		return netns.Remove(c.Key)
	}
	spec := c.Spec.(Spec)
	if spec.Of != "" && (spec.astray() || !netns.Exists(spec.Name)) {
		if err := netns.NameOf(spec.Name, spec.Of); err != nil {
			return err
		}
	}
	if netns.Exists(spec.Name) {
		return netns.Do(spec.Name, spec.set)
	}
	if _, node, brought := SplitBrought(spec.Name); brought { // an empty one would pass for the container
		return fmt.Errorf("the container of another runtime at %s has lost namespace %s; have its runtime take it out (CNI DEL) and put it in again", node, spec.Name)
	}
	return netns.Create(spec.Name, spec.set)
}

// astray tells that its name is another namespace's than it should be.
func (s Spec) astray() bool { return s.Of != "" && netns.Identity(s.Name) != netns.Identity(s.Of) }

// set runs inside the namespace.
func (s Spec) set() error {
	var t tree
	defer t.close()
	for _, c := range s.Sysctls {
		if err := t.write(c.Path, c.Value); err != nil {
			return fmt.Errorf("set %s to %s: %w", strings.ReplaceAll(c.Path, "/", "."), c.Value, err)
		}
	}
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer h.Close()
	return h.LinkSetUp(&netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: loopback}})
}

// loopback is the index of the loopback interface in every namespace.
const loopback = 1

// Alone is the namespace of a standalone function: no dot, so it is no node's.
func Alone(function string) string { return Prefix + function }

// Owns tells whether a namespace was made for the owner.
func Owns(owner, name string) bool {
	o, _, ok := Split(name)
	return ok && o == owner || name == Alone(owner)
}
