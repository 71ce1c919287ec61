package engine

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

// Publication is of ports at which a container is to be reached by the address that the machine has on a network.
type Publication struct {
	Owner string
	// Network need not be there yet.
	Network Network
	Ports   api.PortRanges
}

// protocols over which ports are published.
var protocols = []string{"tcp", "udp"}

// socket is a port of a protocol that a container has at an address of the machine's; that of all of them where it is not valid.
type socket struct {
	at       netip.Addr
	port     uint16
	protocol string
}

// meets tells whether both cannot be: which address one has that is not known is known to be no other's.
func (s socket) meets(other socket) bool {
	everywhere := !other.at.IsValid() || other.at == netip.IPv4Unspecified()
	return s.port == other.port && s.protocol == other.protocol && (everywhere || s.at == other.at)
}

// Vacant implements Networking.
func (d docker) Vacant(ctx context.Context, p Publication) error {
	at, err := d.address(ctx, p.Network)
	if err != nil {
		return err
	}
	all, err := d.ContainerList(ctx, client.ContainerListOptions{All: true})
	if err != nil {
		return fmt.Errorf("list the containers of %s: %w", d.title, err)
	}
	ranges, err := p.Ports.Parse()
	if err != nil {
		return err
	}
	var wanted []socket
	for _, r := range ranges {
		for port := int(r.First); port <= int(r.Last); port++ {
			for _, protocol := range protocols {
				wanted = append(wanted, socket{at, uint16(port), protocol})
			}
		}
	}
	for _, c := range all.Items {
		has, err := d.sockets(ctx, c)
		if err != nil {
			return err
		}
		others := func(w socket) bool { return slices.ContainsFunc(has, w.meets) }
		if c.Labels[labelOwner] == p.Owner && c.Labels[labelMachine] == machine() { // what it has it may have again
			if alive(c) {
				wanted = slices.DeleteFunc(wanted, others)
			}
			continue
		}
		if i := slices.IndexFunc(wanted, others); i >= 0 {
			return wanted[i].taken(d.having(c))
		}
	}
	return d.unbound(wanted)
}

// unbound is an error where a socket of the engine's machine has one of these.
func (d docker) unbound(wanted []socket) error {
	home := d.home()
	for _, w := range wanted {
		at := netip.AddrPortFrom(w.at, w.port)
		if free, err := netns.Bindable(home, w.protocol, at); err != nil || free {
			continue // an engine that is on its way to be ended says so itself
		}
		who := "another program of the machine's"
		if pid, name := netns.Binder(home, w.protocol, at); pid != 0 {
			who = fmt.Sprintf("%s, process %d of the machine's", name, pid)
		} else if free, err := netns.Bindable(home, w.protocol, at); err != nil || free {
			continue // it was another nfchain that looked
		}
		return w.taken(who, "ss -tulnp shows who has which")
	}
	return nil
}

// taken is the error of one that somebody has, with the command that ends that.
func (s socket) taken(who, end string) error {
	at := ""
	if s.at.IsValid() {
		at = " of " + s.at.String()
	}
	return fmt.Errorf("%s port %d%s, at which it is to be published, is taken by %s; publish another, or end that one (%s)", strings.ToUpper(s.protocol), s.port, at, who, end)
}

// having says whose a container is that has a port, and the command that ends it.
func (d docker) having(c container.Summary) (who, end string) {
	name := strings.TrimPrefix(append(c.Names, c.ID)[0], "/")
	if owner := c.Labels[labelOwner]; owner != "" && c.Labels[labelMachine] == machine() {
		return fmt.Sprintf("chain %s (container %s)", owner, name), "nfchain down " + owner
	}
	return "container " + name, d.name + " rm -f " + name
}

// alive tells whether a container has what is published of it: also one that is paused, or that the engine starts again.
func alive(c container.Summary) bool {
	return c.State == container.StateRunning || c.State == container.StatePaused || c.State == container.StateRestarting
}

// sockets are what a container has of the machine's ports, or has again when it is started: one of nfchain's that has ended is.
func (d docker) sockets(ctx context.Context, c container.Summary) (all []socket, err error) {
	if alive(c) && d.name != Podman { // which lists no more than the first of a range
		for _, p := range c.Ports {
			if p.PublicPort != 0 {
				all = append(all, socket{p.IP, p.PublicPort, p.Type})
			}
		}
		return all, nil
	}
	if !alive(c) && c.Labels[labelOwner] == "" {
		return nil, nil
	}
	r, err := d.ContainerInspect(ctx, c.ID, client.ContainerInspectOptions{})
	if errdefs.IsNotFound(err) || err == nil && r.Container.HostConfig == nil {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at container %s: %w", c.ID, err)
	}
	for port, at := range r.Container.HostConfig.PortBindings {
		for _, b := range at {
			if n, err := strconv.ParseUint(b.HostPort, 10, 16); err == nil {
				all = append(all, socket{b.HostIP, uint16(n), string(port.Proto())})
			}
		}
	}
	return all, nil
}

// address that the machine has on a network, or will have once that is made; not valid where the engine is to choose it.
func (d docker) address(ctx context.Context, n Network) (netip.Addr, error) {
	_, err := d.NetworkInspect(ctx, n.Name, client.NetworkInspectOptions{})
	if !errdefs.IsNotFound(err) { // the lack of one that nobody makes is told elsewhere
		return d.gateway(ctx, n.Name)
	}
	for _, text := range n.Subnets {
		if subnet, err := netip.ParsePrefix(text); err == nil && subnet.Addr().Is4() {
			return subnet.Masked().Addr().Next(), nil
		}
	}
	return netip.Addr{}, nil
}

// home is the network namespace of the engine: that of the process at the other end of its socket, where that can be told.
func (d docker) home() string {
	c, err := rundir.Dial(strings.TrimPrefix(d.Host(), "unix://"))
	if err != nil {
		return netns.Host
	}
	_ = c.Close()
	if at := fmt.Sprintf("/proc/%d/ns/net", c.PID); c.PID > 0 && netns.Exists(at) {
		return at
	}
	return netns.Host
}
