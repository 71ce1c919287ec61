package plugin

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/containernetworking/cni/pkg/types"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/run"
)

// del takes a container out, wherever it was put in. Where it is in no place, nothing is to do.
func (p *Plugin) del(ctx context.Context, c call) error {
	return p.leaveAll(ctx, func(b deploy.Brought) bool {
		return b.Container == c.container && b.Interface == c.ifname && b.Network == c.Name
	})
}

// collect takes out the containers of the network that are not among those that the runtime still has.
func (p *Plugin) collect(ctx context.Context, c call) error {
	return p.leaveAll(ctx, func(b deploy.Brought) bool {
		return b.Network == c.Name && !slices.Contains(c.ValidAttachments, types.GCAttachment{ContainerID: b.Container, IfName: b.Interface})
	})
}

// leaveAll takes out those containers for which it is so. What is wrong with one chain keeps no container in another.
func (p *Plugin) leaveAll(ctx context.Context, goes func(deploy.Brought) bool) error {
	all, unread := deploy.AllBrought()
	defer rundir.Sweep()
	host := sync.OnceValue(func() *run.Host { return p.Host(ctx) })
	var failed []error
	found := false
	for owner, of := range all {
		if slices.ContainsFunc(of, goes) { // asked again under its lock
			found = true
			failed = append(failed, p.leaveChain(ctx, host(), owner, goes))
		}
	}
	for owner, of := range all {
		if !forgotten(owner, of) {
			continue
		}
		if err := p.leaveChain(ctx, host(), owner, goes); err != nil { // which the runtime asked nothing of
			p.Remark("chain %s, which has no containers any more: %v; `nfchain down %s` removes it", owner, err, owner)
		}
	}
	if unread != nil && found {
		p.Remark("%v", unread)
	} else {
		failed = append(failed, unread) // it may be one of those
	}
	return errors.Join(failed...)
}

// forgotten tells of a chain that has no containers, and was there for them alone: who took the last out, or was about to note
// the first, was killed.
func forgotten(owner string, of []deploy.Brought) bool {
	return len(of) == 0 && (run.BroughtUp(owner) || deploy.Abandoned(owner))
}

func (p *Plugin) leaveChain(ctx context.Context, h *run.Host, owner string, goes func(deploy.Brought) bool) error {
	lock, err := h.Lock(ctx, owner)
	if err != nil {
		return err
	}
	defer lock.Release()
	of, err := deploy.BroughtTo(owner) // others may have gone meanwhile
	if err == nil && forgotten(owner, slices.Collect(maps.Values(of))) {
		_, err := h.Down(context.WithoutCancel(ctx), owner)
		return err
	}
	failed := []error{err}
	for _, b := range of {
		if goes(b) { // what has begun is finished
			failed = append(failed, p.leave(context.WithoutCancel(ctx), h, owner, b))
		}
	}
	return errors.Join(failed...)
}

// leave takes one container out. What stands in for it again is the chain's; where the chain was there for its containers
// alone, it goes with the last. Whether any of it is there is asked before, since the container may be all. The caller holds the
// chain's lock.
func (p *Plugin) leave(ctx context.Context, h *run.Host, owner string, b deploy.Brought) error {
	up, unknown := isUp(h, owner)
	if err := b.Unseat(owner); err != nil {
		return err
	}
	of, err := deploy.BroughtTo(owner)
	if err != nil {
		return err
	}
	delete(of, b.Node)
	_, none := deploy.Recall(owner)
	switch {
	case len(of) == 0 && (run.BroughtUp(owner) || errors.Is(none, fs.ErrNotExist)):
		_, err := h.Down(ctx, owner)
		return err
	case up == nil && unknown == nil: // nothing is there to be without it
	default:
		err := unknown
		if err == nil {
			_, err = h.Again(ctx, owner)
		}
		if err != nil { // the container has gone all the same
			p.Remark("chain %s is without %s: %v; `nfchain show %s` tells what it lacks", owner, b.Node, err, owner)
		}
	}
	return deploy.ForgetBrought(owner, b.Node)
}
