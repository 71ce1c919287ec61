package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
	cni "github.com/containernetworking/cni/pkg/types/100"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/run"
)

// check tells whether a container has all that it was given.
func (p *Plugin) check(ctx context.Context, c call) error {
	all, err := deploy.AllBrought()
	for owner, of := range all {
		for _, b := range of {
			if b.Container == c.container && b.Interface == c.ifname && b.Network == c.Name {
				return p.checkIn(ctx, c, owner, b)
			}
		}
	}
	if err != nil { // it may be one of those that could not be read
		return err
	}
	return types.NewError(types.ErrUnknownContainer, fmt.Sprintf("container %s has no place in a chain by network %s; its chain was taken down, or it was never put in", c.container, c.Name), "")
}

func (p *Plugin) checkIn(ctx context.Context, c call, owner string, b deploy.Brought) error {
	if !b.There(owner) {
		return differs("the network namespace that has the place of %s of chain %s is not the container's, at %s", b.Node, owner, b.Netns)
	}
	h := p.Host(ctx)
	lock, err := h.Lock(ctx, owner) // what is half made is neither as it was nor as it will be
	if err != nil {
		return err
	}
	defer lock.Release()
	made, err := h.Made(owner)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(made.Nodes, func(n plan.Node) bool { return n.Name == b.Node && n.Brought }) {
		return differs("chain %s has no place called %s any more", owner, b.Node)
	}
	if err := c.given(result(made, b, 0)); err != nil {
		return err
	}
	d, err := run.DriftOf(ctx, made, b.Node)
	if err != nil {
		return err
	}
	if len(d.Missing)+len(d.Differs) > 0 {
		return differs("%s of chain %s lacks %s; `nfchain show %s` tells of all, and `nfchain up` with its file makes it good", b.Node, owner, append(d.Missing, d.Differs...)[0], owner)
	}
	return nil
}

// given refuses what the runtime was told if that is not so any more.
func (c call) given(now *cni.Result) error {
	before, err := c.before()
	if err != nil || before == nil {
		return err
	}
	for _, i := range now.Interfaces {
		if !slices.ContainsFunc(before.Interfaces, func(was *cni.Interface) bool {
			return was.Name == i.Name && was.Sandbox == i.Sandbox && strings.EqualFold(was.Mac, i.Mac)
		}) {
			return differs("the container's interface is %s (%s), which the runtime was not told", i.Name, i.Mac)
		}
	}
	for _, ip := range now.IPs {
		if !slices.ContainsFunc(before.IPs, func(was *cni.IPConfig) bool { return was.Address.String() == ip.Address.String() }) {
			return differs("the container's address is %s, which the runtime was not told", ip.Address.IP)
		}
	}
	return nil
}

func differs(format string, args ...any) error {
	return types.NewError(CodeDiffers, fmt.Sprintf(format, args...), "")
}

// status tells whether a container could be put in now.
func (p *Plugin) status(ctx context.Context, c call) error {
	if err := c.whole(); err != nil {
		return err
	}
	h := p.Host(ctx)
	chain, err := p.chain(h, c)
	if err == nil {
		err = h.Features.Missing("netns")
	}
	if err == nil && c.Role != "" && !slices.Contains(chain.Spec.Brought(), c.Role) {
		err = refuse("role: chain %s has no place for a container called %q", chain.Metadata.Name, c.Role)
	}
	if err == nil {
		return nil
	}
	return types.NewError(types.ErrPluginNotAvailable, err.Error(), "")
}
