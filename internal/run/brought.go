package run

import (
	"context"
	"fmt"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/process"
)

// Again brings a chain up again as its file says that it was last made from, with the containers that are in its places
// now. The caller holds its lock.
func (h *Host) Again(ctx context.Context, name string) (*plan.Plan, error) {
	changing, err := h.changing(ctx, name)
	if err != nil {
		return nil, err
	}
	defer changing.Release()
	addresses, err := h.lockAddresses(ctx)
	if err != nil {
		return nil, err
	}
	defer addresses.Release()
	p, err := h.Settled(name)
	if err != nil {
		return nil, err
	}
	if err := h.Features.Missing(p.Requires...); err != nil {
		return p, err
	}
	d := &deploy.Deployer{Restoring: true}
	if _, err := d.Up(ctx, p); err != nil {
		return p, err
	}
	if err := deploy.Note(p); err != nil || !d.Remains() {
		return p, err
	}
	return p, process.Drain(name)
}

// BroughtUp tells whether a chain was brought up by a container that another runtime put into it.
func BroughtUp(name string) bool {
	r, err := remembered(name)
	return err == nil && r.Brought
}

// DriftOf is how what is there of a node, and of what joins it, differs from the plan.
func DriftOf(ctx context.Context, p *plan.Plan, node string) (Drift, error) {
	d := noDrift()
	changes, err := drift(ctx, p)
	for _, c := range changes {
		if i := concerned(p, c); i >= 0 && p.Nodes[i].Name == node || joins(c, node) {
			d.add(c)
		}
	}
	return d, err
}

// joins tells whether a change is of something between a node and another.
func joins(c resource.Change, node string) bool {
	s, is := c.Spec.(link.Spec)
	return is && (s.A.Node == node || s.B.Node == node)
}

// refuseWaiting refuses to measure a chain in whose places containers are lacking, and to bring one up for a
// measurement, where nobody would put them in.
func refuseWaiting(chain api.Chain, p *plan.Plan, temporary bool) error {
	name := chain.Metadata.Name
	if places := chain.Spec.Brought(); temporary && len(places) > 0 {
		return fmt.Errorf("chain %s has places for containers that another runtime puts in (%s), and nobody does while a measurement has it up; `nfchain up` it, have them put in, and measure it by its name: %w",
			name, strings.Join(places, ", "), ErrInput)
	}
	if p != nil && len(p.Waiting()) > 0 {
		return fmt.Errorf("chain %s waits for containers that another runtime puts in (%s); measure it when they are there: %w", name, strings.Join(p.Waiting(), ", "), ErrInput)
	}
	return nil
}
