package supervise_test

import (
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/netns"
)

// TestProbedTogether: at rest one probe goes through all functions, both ways, and is a whole packet behind each: one that drops what
// the kernel takes for damaged lets it through. When one of them fails it is known, and the others are not led past.
func TestProbedTogether(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(first, bump, "{name: c, kind: forward, onFailure: bypass}", "{name: d, kind: forward, onFailure: bypass}"))
	p.sh("c", "nft add table inet strict; nft 'add chain inet strict c { type filter hook forward priority 0; }'; nft add rule inet strict c ct state invalid drop")
	together := func() {
		t.Helper()
		p.well("a", "bump", "c", "d")
		into := map[string]string{"eastward": p.watched("a").West, "westward": p.watched("d").East}
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
			before, enough := p.sent(), map[string]bool{}
			others := func(now map[string]uint64) (any bool) {
				for port := range now {
					any = any || port != into["eastward"] && port != into["westward"] && now[port] != before[port]
				}
				return any
			}
			now := before
			for ; !others(now) && len(enough) < 2 && time.Now().Before(deadline); now = p.sent() {
				for way, port := range into {
					if now[port] > before[port]+1 { // two at least: one family and the other
						enough[way] = true
					}
				}
				time.Sleep(10 * time.Millisecond)
			}
			if len(enough) == 2 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("each function is probed by itself: ports sent %v, then %v", before, now)
			}
		}
	}
	together()
	p.crosses()
	p.sh("c", breaks)
	p.until("c", "failed", hasFailed)
	p.sends("bump", "d")
	p.sends("a", "")
	p.crosses()
	p.sh("c", mends)
	p.well("c")
	p.sends("bump", "")
	p.crosses()
}

// sent is how many packets each port of functions has sent by itself, and not handed over.
func (p *path) sent() map[string]uint64 {
	p.Helper()
	h, err := netns.Open(p.Between())
	if err != nil {
		p.Fatal(err)
	}
	defer h.Close()
	all := map[string]uint64{}
	for _, n := range p.Nodes[1 : len(p.Nodes)-1] {
		for _, port := range []string{p.watched(n.Name).West, p.watched(n.Name).East} {
			l, err := h.LinkByName(port)
			if err != nil {
				p.Fatal(err)
			}
			all[port] = l.Attrs().Statistics.TxPackets
		}
	}
	return all
}
