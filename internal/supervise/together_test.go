package supervise_test

import (
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
)

// TestProbedTogether: at rest one probe goes through all functions, both ways, and is a whole packet behind each: one that drops what
// the kernel takes for damaged lets it through. When one of them fails, or its program
// ends, or packets come, that is seen.
func TestProbedTogether(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(first, bump, "{name: c, kind: forward, onFailure: bypass}", beside))
	p.sh("c", "nft add table inet strict; nft 'add chain inet strict c { type filter hook forward priority 0; }'; nft add rule inet strict c ct state invalid drop")
	together := func() {
		t.Helper()
		p.well("a", "bump", "c", "bad")
		into := map[string]string{"eastward": p.watched("a").West, "westward": p.watched("bad").East}
		for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
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
					if now[port] > before[port]+2 { // three at least, so that all kinds have had their turn
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
	killed := p.running("bad").PID
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.until("bad", "well again", func(h process.Health) bool { return h.Failures > 0 && isWell(h) && p.program("bad").PID != killed })
	together()
	p.sh("c", nstest.Drops)
	p.until("c", "failed", hasFailed)
	p.sends("bump", "bad")
	p.sends("a", "")
	p.crosses()
	p.sh("c", nstest.Mends)
	p.well("c")
	p.sends("bump", "")
	p.crosses()
	together()
	newStream(t, p)
	inward := p.watched("c").East // packets come out of it eastward, and westward there are probes alone
	for begun, deadline := p.sent()[inward], time.Now().Add(2*time.Minute); p.sent()[inward] < begun+100; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("packets come, and functions are probed as if none did")
		}
	}
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
