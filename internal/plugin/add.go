package plugin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/types"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/run"
)

// add puts a container into its place.
func (p *Plugin) add(ctx context.Context, c call) error {
	if err := c.whole(); err != nil {
		return err
	}
	if err := there(c.netns); err != nil {
		return err
	}
	before, err := c.before()
	if err != nil {
		return err
	}
	h := p.Host(ctx)
	chain, err := p.chain(h, c)
	if err != nil {
		return err
	}
	owner := chain.Metadata.Name
	lock, err := h.Lock(ctx, owner)
	if err != nil {
		return err
	}
	defer lock.Release()
	up, err := isUp(h, owner)
	if err != nil {
		return err
	}
	switch {
	case up != nil:
		chain = *up // it may be another by now than its file says
	case !c.file():
		return types.NewError(types.ErrTryAgainLater, fmt.Sprintf("chain %s is not up; `nfchain up` brings it up, or write the absolute path of its file", owner), "")
	default:
		if err := h.CheckKind(owner, "chain"); err != nil {
			return err
		}
	}
	b, err := p.seat(ctx, h, c, chain)
	if err != nil {
		return err
	}
	made, err := p.raise(ctx, h, chain, b, up == nil)
	if err == nil {
		err = c.print(before, result(made, b, chain.Spec.MTU))
	}
	if err == nil {
		return nil
	}
	if c.file() {
		err = p.Placed(err, c.Chain)
	}
	return p.undo(ctx, h, owner, b, err)
}

// undo what has begun of an ADD that fails: the runtime may never ask for it.
func (p *Plugin) undo(ctx context.Context, h *run.Host, owner string, b deploy.Brought, why error) error {
	if err := p.leave(context.WithoutCancel(ctx), h, owner, b); err != nil {
		return fmt.Errorf("%w; and taking the container out again failed: %w", why, err)
	}
	return why
}

// there refuses a namespace that is none, or the host's.
func there(path string) error {
	wrong := func(why string) error {
		return types.NewError(types.ErrInvalidEnvironmentVariables, "CNI_NETNS: "+why, "")
	}
	if !strings.HasPrefix(path, "/") {
		return wrong(fmt.Sprintf("%q is not the absolute path of a network namespace", path))
	}
	switch netns.Identity(path) {
	case "":
		return types.NewError(types.ErrInvalidNetNS, fmt.Sprintf("there is no network namespace at %s", path), "")
	case netns.Identity(netns.Host):
		return types.NewError(types.ErrInvalidNetNS, path+" is the host's own network namespace, and a place of a chain is for a container with its own", "")
	}
	return nil
}

// chain that a call is about: as it is up, or as its file has it.
func (p *Plugin) chain(h *run.Host, c call) (api.Chain, error) {
	if c.file() {
		return p.Read(c.Chain)
	}
	up, err := isUp(h, c.Chain)
	if err == nil && up == nil {
		err = types.NewError(types.ErrTryAgainLater, fmt.Sprintf("chain %s is not up; `nfchain up` brings it up, or write the absolute path of its file", c.Chain), "")
	}
	if err != nil {
		return api.Chain{}, err
	}
	return *up, nil
}

// isUp gives a chain of which something is there; nil where there is nothing.
func isUp(h *run.Host, name string) (*api.Chain, error) {
	if _, err := deploy.Recall(name); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	chain, err := h.Chain(name)
	if err != nil {
		return nil, err
	}
	if stands, err := deploy.Stands(name); err != nil || !stands {
		return nil, err
	}
	return &chain, nil
}

// seat has a container take its place, or refuses it. It is noted first, so that whatever becomes of this process it is
// found when the container goes.
func (p *Plugin) seat(ctx context.Context, h *run.Host, c call, chain api.Chain) (deploy.Brought, error) {
	owner := chain.Metadata.Name
	none := deploy.Brought{}
	places := chain.Spec.Brought()
	switch {
	case len(places) == 0:
		return none, refuse("chain %s has no place for a container of another runtime; write runtime: %s at the endpoint or function", owner, api.RuntimeCNI)
	case c.Role == "":
		return none, refuse("role: is missing; chain %s has places for %s; or have the runtime say CNI_ARGS=%s=…", owner, strings.Join(places, ", "), roleArg)
	case !slices.Contains(places, c.Role):
		return none, refuse("role: chain %s has no place for a container called %q, but for %s; write runtime: %s there", owner, c.Role, strings.Join(places, ", "), api.RuntimeCNI)
	}
	devices, err := c.devices(plan.Interfaces(chain, h.Catalogue, c.Role))
	if err != nil {
		return none, err
	}
	b := deploy.Brought{Node: c.Role, Container: c.container, Network: c.Name, Interface: c.ifname, Devices: devices, Netns: c.netns}
	of, err := deploy.BroughtTo(owner)
	if err != nil {
		return none, err
	}
	if err := vacant(owner, b, of); err != nil {
		return none, err
	}
	if err := free(owner, b); err != nil {
		return none, err
	}
	if gone, is := of[b.Node]; is { // without a word, or it comes again
		if err := gone.Unseat(owner); err != nil {
			return none, err
		}
	}
	err = deploy.NoteBrought(owner, b)
	if err == nil {
		err = b.Seat(owner)
	}
	if err != nil { // something must stand in where one had the place before
		return none, p.undo(ctx, h, owner, b, err)
	}
	return b, nil
}

// vacant refuses a place that another container has.
func vacant(owner string, b deploy.Brought, of map[string]deploy.Brought) error {
	for node, other := range of {
		same := other.Container == b.Container && other.Network == b.Network && other.Interface == b.Interface
		switch {
		case node == b.Node && !same && other.There(owner):
			return types.NewError(CodeTaken, fmt.Sprintf("%s of chain %s is the place of container %s of network %s already, and it is for one; end that first, or have a place for each", node, owner, other.Container, other.Network), "")
		case node != b.Node && other.There(owner) && netns.Identity(other.Netns) == netns.Identity(b.Netns):
			return types.NewError(CodeTaken, fmt.Sprintf("the container's network namespace has the place of %s of chain %s already, and what goes on to %s would not leave it; it can have one of them", node, owner, b.Node), "")
		}
	}
	return nil
}

// free refuses names of interfaces that others in the container have.
func free(owner string, b deploy.Brought) error {
	h, err := netns.Open(b.Netns)
	if err != nil {
		return err
	}
	defer h.Close()
	links, err := h.LinkList()
	if err != nil {
		return err
	}
	for _, l := range links {
		if name := l.Attrs().Name; slices.Contains(b.Devices, name) && !resource.Owned(l.Attrs().Alias, owner) {
			return refuse("the container has an interface %s already, which is not the chain's; name the chain's otherwise, by interfaces: [...]", name)
		}
	}
	return nil
}

// raise brings the chain up with its containers.
func (p *Plugin) raise(ctx context.Context, h *run.Host, chain api.Chain, b deploy.Brought, first bool) (*plan.Plan, error) {
	owner := chain.Metadata.Name
	var made *plan.Plan
	var err error
	if first {
		made, _, err = h.Up(ctx, chain, run.UpOptions{Brought: true})
	} else {
		made, err = h.Again(ctx, owner)
	}
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(made.Nodes, func(n plan.Node) bool { return n.Name == b.Node && n.Brought && !n.Waits }) {
		return nil, refuse("role: chain %s, as all of it was last there, has no place called %s; `nfchain up` with its file makes it good", owner, b.Node)
	}
	return made, clear(owner, b, made)
}

// clear refuses a container that reaches the chain's addresses elsewhere: it would not send there what is for the chain.
func clear(owner string, b deploy.Brought, made *plan.Plan) error {
	others, err := deploy.Reached(b.Netns, owner)
	if err != nil {
		return err
	}
	for _, block := range made.Blocks {
		if i := slices.IndexFunc(others, func(r netip.Prefix) bool { return r.Bits() > 0 && r.Overlaps(block) }); i >= 0 {
			return refuse("the container reaches %s by another of its networks, and chain %s has its addresses in %s; give the chain another pool (addresses: {ipv4: …})", others[i], owner, block)
		}
	}
	return nil
}
