package run_test

import (
	"context"
	"testing"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/run"
)

// TestUpWaitsForCarrier: when `up --wait` returns, the kernel has every interface up.
func TestUpWaitsForCarrier(t *testing.T) {
	b := newBed(t, plantest.Forwards(8))
	p, _, err := b.edit(context.Background(), run.UpOptions{Wait: true})
	t.Cleanup(func() { _, _ = b.host.Down(context.Background(), b.name()) })
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range p.Nodes {
		h, err := netns.Open(n.Namespace)
		if err != nil {
			t.Fatal(err)
		}
		links, err := h.LinkList()
		if err != nil || len(links) < 2 {
			t.Errorf("%s has %d interfaces, %v", n.Name, len(links), err)
		}
		for _, l := range links {
			if l.Attrs().Name != "lo" && l.Attrs().OperState != netlink.OperUp {
				t.Errorf("%s of %s is %v", l.Attrs().Name, n.Name, l.Attrs().OperState)
			}
		}
		h.Close()
	}
}

// TestUpWithoutCarrier: an interface that was taken down by somebody is mended, and
// then waited for like any other.
func TestUpWithoutCarrier(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	ctx := context.Background()
	t.Cleanup(func() { _, _ = b.host.Down(ctx, b.name()) })
	p, _, err := b.edit(ctx, run.UpOptions{Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	h, err := netns.Open(p.Functions()[0].Namespace)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	l, err := h.LinkByName("eth0")
	if err == nil {
		err = h.LinkSetDown(l)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, changes, err := b.edit(ctx, run.UpOptions{Wait: true}); err != nil || len(changes) == 0 {
		t.Errorf("%d changes, %v", len(changes), err)
	}
	if l, err = h.LinkByName("eth0"); err != nil || l.Attrs().OperState != netlink.OperUp {
		t.Errorf("%v, %v", l.Attrs().OperState, err)
	}
}
