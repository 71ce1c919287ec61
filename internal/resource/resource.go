// Package resource describes what a plan is made of. Each kind of kernel object
// has a package below this one with a Spec, which is data, and a Kind, which
// reads and changes the kernel. Wirings and functions write Specs; only package
// deploy calls Kinds.
package resource

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
)

// Local is the host of every resource until plans span machines.
const Local = "local"

// Spec is what one object should be.
type Spec interface {
	// Kind names the package that makes it.
	Kind() string
	// Key tells it from others of its kind in the same namespace.
	Key() string
	// Fingerprint is everything about it that can be read back from the kernel.
	// An object whose fingerprint differs is changed.
	Fingerprint() string
	// Commands are the ip, tc, nft ... commands that make the same object; none for
	// what only nfchain can make.
	Commands(namespace string) []Command
}

// Resource is one object of a plan.
type Resource struct {
	ID          string   `json:"id"`
	Kind        string   `json:"kind"`
	Host        string   `json:"host"`
	PathVersion int      `json:"path_version"`
	Namespace   string   `json:"namespace"`
	Needs       []string `json:"needs"`
	Spec        Spec     `json:"spec"`
}

// New puts a spec into a namespace; needs are the IDs of what must exist first.
func New(namespace string, spec Spec, needs ...string) Resource {
	return Resource{
		ID: ID(spec.Kind(), namespace, spec.Key()), Kind: spec.Kind(), Host: Local,
		PathVersion: 1, Namespace: namespace, Needs: append([]string{}, needs...), Spec: spec,
	}
}

// ID of a resource: its kind, namespace and key.
func ID(kind, namespace, key string) string {
	if namespace == netns.Host {
		return kind + ":" + key
	}
	return kind + ":" + namespace + ":" + key
}

// Command is one program with its arguments and what it reads on standard input.
type Command struct {
	Args  []string `json:"args"`
	Stdin string   `json:"stdin,omitempty"`
}

// Cmd is a Command without input.
func Cmd(args ...string) Command { return Command{Args: args} }

// In is a Command run inside a namespace by ip-netns(8).
func In(namespace string, args ...string) Command {
	if namespace == netns.Host {
		return Cmd(args...)
	}
	return Cmd(append([]string{"ip", "netns", "exec", namespace}, args...)...)
}

// IP is an ip(8) command on a namespace.
func IP(namespace string, args ...string) Command { return onNamespace("ip", namespace, args) }

// TC is a tc(8) command on a namespace.
func TC(namespace string, args ...string) Command { return onNamespace("tc", namespace, args) }

func onNamespace(tool, namespace string, args []string) Command {
	if namespace == netns.Host {
		return Cmd(append([]string{tool}, args...)...)
	}
	return Cmd(append([]string{tool, "-n", namespace}, args...)...)
}

// Interface is one network interface.
type Interface struct{ Namespace, Device string }

// Observed is an object as it was found.
type Observed struct {
	Key         string
	Fingerprint string
}

// Op is what has to be done to an object.
type Op string

// The operations.
const (
	Create Op = "create"
	Update Op = "update"
	Delete Op = "delete"
)

// Change is one step of a deployment.
type Change struct {
	Op        Op     `json:"op"`
	ID        string `json:"id"`
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Key       string `json:"key"`
	// Spec is what the object should become; nil for Delete.
	Spec Spec `json:"spec,omitempty"`
	// Was is the fingerprint of what is there, of an Update.
	Was string `json:"-"`
}

// Place is where a Kind works: one namespace, on behalf of one owner.
type Place struct {
	*netns.Handle
	// Owner is the chain or standalone function whose objects are meant.
	Owner string
	// links are the interfaces as first listed, for the kinds that do not change them.
	links *[]netlink.Link
	// still is what is read once in a place where nothing is changed; nil in others.
	still *still
	// alone is what is read once in a place where nobody else changes it; nil in others.
	alone *alone
}

// At is a Place that lists its interfaces once.
func At(h *netns.Handle, owner string) Place { return Place{h, owner, new([]netlink.Link), nil, nil} }

// Notice reads one interface by its name, and has the kernel act at once on what it knows
// of its carrier. By itself it does so up to a second later, and until then a device may be
// down, and a bridge's port closed, whose other end is up. Kernels before 6.8 only read.
func (p Place) Notice(name string) (netlink.Link, error) {
	l, err := p.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("read interface %s in namespace %q: %w", name, p.Ref, err)
	}
	return l, nil
}

// LinkList lists the interfaces as they are now.
func (p Place) LinkList() ([]netlink.Link, error) {
	if p.still != nil {
		return p.Links()
	}
	return p.Handle.LinkList()
}

// Links lists the interfaces of the place.
func (p Place) Links() ([]netlink.Link, error) {
	if p.links != nil && *p.links != nil {
		return *p.links, nil
	}
	list, err := p.Handle.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list interfaces of namespace %q: %w", p.Ref, err)
	}
	if p.links != nil {
		*p.links = list
	}
	return list, nil
}

// ErrNoInterface is that of a name that no interface of a place has.
var ErrNoInterface = errors.New("has no interface")

// Device finds an interface of the place by its name.
func (p Place) Device(name string) (netlink.Link, error) {
	list, err := p.Links()
	if err != nil {
		return nil, err
	}
	for _, l := range list {
		if l.Attrs().Name == name {
			return l, nil
		}
	}
	return nil, fmt.Errorf("namespace %q %w %s", p.Ref, ErrNoInterface, name)
}

// Mine are the owner's interfaces by index. Addresses, routes and the like are
// looked for on these alone, so that in a namespace that is not the owner's
// nothing else is touched.
func (p Place) Mine() (map[int]string, error) {
	list, err := p.Links()
	if err != nil {
		return nil, err
	}
	mine := map[int]string{}
	for _, l := range list {
		if Owned(l.Attrs().Alias, p.Owner) {
			mine[l.Attrs().Index] = l.Attrs().Name
		}
	}
	return mine, nil
}

// Kind reads and changes all objects of one kind in one place.
type Kind interface {
	Name() string
	// Read finds every object of the kind that the owner has in the place.
	Read(p Place) ([]Observed, error)
	// Apply makes changes in order. Making twice equals making once; removing
	// what is gone succeeds.
	Apply(p Place, changes []Change) error
}

// Living is a Kind whose objects may come to an end by themselves, as programs do.
type Living interface {
	// Alive is an error that says what of the owner's in the place has ended.
	Alive(p Place) error
}

// Wary is a Kind that can tell, before anything is made, that something cannot be.
type Wary interface {
	// Possible is an error that says what of the specs this machine does not let be made.
	Possible(specs []Spec) error
}

// Make makes changes in order: remove takes away what goes, and set makes what
// comes or is to be another.
func Make[S Spec](changes []Change, remove func(key string) error, set func(S) error) error {
	for _, c := range changes {
		var err error
		if c.Op == Delete {
			err = remove(c.Key)
		} else {
			err = set(c.Spec.(S))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Mark is how an object says whose it is: the prefix of an interface's alias.
func Mark(owner string) string { return mark + owner + " " }

const mark = "nfchain "

// Marked tells whether an interface alias carries the mark of any owner.
func Marked(alias string) bool { return strings.HasPrefix(alias, mark) }

// Owned tells whether an interface alias carries the owner's mark.
func Owned(alias, owner string) bool { return strings.HasPrefix(alias, Mark(owner)) }

// Discipline is a queueing discipline and the interface that it is at.
type Discipline struct {
	Device string
	netlink.Qdisc
}

// Disciplines are those at the interfaces that bear the owner's mark.
func (p Place) Disciplines() ([]Discipline, error) {
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return nil, err
	}
	list, err := p.QdiscList(nil)
	if err != nil {
		return nil, fmt.Errorf("list queueing disciplines of namespace %q: %w", p.Ref, err)
	}
	var found []Discipline
	for _, q := range list {
		if device, ours := mine[q.Attrs().LinkIndex]; ours {
			found = append(found, Discipline{device, q})
		}
	}
	return found, nil
}
