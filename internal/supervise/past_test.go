package supervise_test

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// guard is a firewall without a namespace that counts what goes to a port and what comes from there, and refuses another.
func guard(name, refused string) string {
	return "{name: " + name + ", kind: firewall, runtime: inline, firewall: {rules: {list: [{protocol: udp, destination_port: 7031, action: accept}, " +
		"{protocol: udp, source_port: 7031, state: [established], action: accept}, {protocol: udp, destination_port: " + refused + ", action: drop}]}}}"
}

// decided is how many packets the rules of a firewall without a namespace decided about.
func (p *path) decided(name string) (n []uint64) {
	p.Helper()
	h, err := netns.Open(p.Between())
	if err != nil {
		p.Fatal(err)
	}
	defer h.Close()
	i := slices.IndexFunc(p.Inline, func(f plan.Inline) bool { return f.Name == name })
	spec, rules := p.Inline[i].Firewall(p.Plan)
	for _, device := range append([]string{spec.Device}, spec.Beside...) {
		c, found, err := pass.RulesAt(resource.At(h, p.owner), device, *rules)
		if err != nil {
			p.Fatal(err)
		}
		if found {
			for _, r := range c.Rules {
				n = append(n, r.Packets)
			}
			return n
		}
	}
	p.Fatalf("%s is nowhere", name)
	return nil
}

// exchanged are so many packets that were answered, one after the other, and sent are how many it took: a busy machine drops some.
func (p *path) exchanged(packets int, port uint16) (sent int) {
	p.Helper()
	at := netip.AddrPortFrom(p.addresses(p.Client(), p.Server())[0], port).String()
	var in net.PacketConn
	var out net.Conn
	err := netns.Do(p.Server().Namespace, func() (err error) { in, err = net.ListenPacket("udp", at); return })
	if err == nil {
		err = netns.Do(p.Client().Namespace, func() (err error) { out, err = net.Dial("udp", at); return })
	}
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _, _ = in.Close(), out.Close() }()
	for b := make([]byte, 16); packets > 0; sent++ {
		if sent > 1000 {
			p.Fatalf("%d packets to %s were not answered", packets, at)
		}
		_, _ = out.Write([]byte("a packet"))
		_ = in.SetReadDeadline(time.Now().Add(5 * time.Second))
		n, from, err := in.ReadFrom(b)
		if err != nil {
			continue
		}
		_, _ = in.WriteTo(b[:n], from)
		_ = out.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err = out.Read(b); err == nil {
			packets--
		}
	}
	return sent
}

// refuses packets to a port: none comes while others do.
func (p *path) refuses(port uint16) {
	p.Helper()
	at := netip.AddrPortFrom(p.addresses(p.Client(), p.Server())[0], port).String()
	var in net.PacketConn
	var out net.Conn
	err := netns.Do(p.Server().Namespace, func() (err error) { in, err = net.ListenPacket("udp", at); return })
	if err == nil {
		err = netns.Do(p.Client().Namespace, func() (err error) { out, err = net.Dial("udp", at); return })
	}
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _, _ = in.Close(), out.Close() }()
	for range 10 {
		_, _ = out.Write([]byte("a packet"))
	}
	p.exchanged(10, 7031)
	_ = in.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, _, err := in.ReadFrom(make([]byte, 16)); err == nil {
		p.Errorf("a packet came to port %d", port)
	}
}

// meets has packets meet firewalls once on each way, and what they refuse end there.
func (p *path) meets(names ...string) {
	p.Helper()
	had := map[string][]uint64{}
	for _, name := range names {
		had[name] = p.decided(name)
	}
	const packets = 50
	sent := uint64(p.exchanged(packets, 7031))
	for _, name := range names {
		now := p.decided(name)
		for i, way := range []string{"there", "back"} {
			if n := now[i] - had[name][i]; n < packets || n > sent {
				p.Errorf("%s: %d of %d to %d packets were met on the way %s", name, n, packets, sent, way)
			}
		}
	}
	p.refuses(7098)
	p.refuses(7099)
}

// TestLedPastBesideInline: packets that are led past a function which fails meet the functions without a namespace before and behind it as
// ever, once and with what these know, whoever supervises; and nothing is lost while these are replaced meanwhile.
func TestLedPastBesideInline(t *testing.T) {
	for name, more := range map[string]string{"": "", "stay": "ebpf: {stay: true, idle: 1m}\n", "clsact": "ebpf: {hook: clsact}\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := more + spec(guard("before", "7098"), first, guard("behind", "7099"), last)
			p := newPath(t, chain)
			p.well("a")
			if again, err := (&deploy.Deployer{}).Up(t.Context(), p.Plan); err != nil || len(again) > 0 {
				t.Errorf("a second pass changed %v, error %v", again, err)
			}
			p.meets("before", "behind")
			p.sh("a", nstest.Drops)
			p.until("a", "failed", hasFailed)
			p.sends("client", "past a")
			p.meets("before", "behind")
			p.crosses()
			killSupervisorOf(t, p.owner)
			p.meets("before", "behind")
			p.up(chain)
			p.until("a", "failed", hasFailed)
			p.sends("client", "past a")

			s := newStream(t, p)
			s.more(t, 10)
			begun, dropped := s.next.Load(), nstest.Dropped(t)
			p.up(strings.Replace(chain, "7099", "7099-7100", 1)) // other rules
			p.meets("before", "behind")
			p.up(more + spec(guard("before", "7098"), first, "{name: count, kind: counter, runtime: inline}", guard("behind", "7099"), last))
			p.meets("before", "behind")
			p.up(chain)
			p.sh("a", nstest.Mends)
			p.well("a")
			p.sends("client", "")
			p.meets("before", "behind")
			s.more(t, 10)
			s.whole(t, begun+1, s.next.Load()-10, dropped)

			p.sh("a", "ip link del eth1")
			p.until("a", "failed", hasFailed)
			p.sends("client", "past a")
			p.meets("before", "behind")
			p.up(chain)
			p.well("a")
			p.sends("client", "")
			p.meets("before", "behind")
		})
	}
}

// TestLedPastBesideInlineInARow: beside each other functions that fail are led past one by one, to the replicas of another.
func TestLedPastBesideInlineInARow(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(guard("before", "7098"), first, guard("between", "7099"), "{name: b, kind: forward, onFailure: bypass}", "{name: c, kind: forward, replicas: 2}", guard("behind", "7097")))
	p.well("a", "b")
	all := []string{"before", "between", "behind"}
	p.meets(all...)
	p.sh("b", nstest.Drops)
	p.until("b", "failed", hasFailed)
	p.well("a")
	p.meets(all...)
	p.sh("a", nstest.Drops)
	p.until("a", "failed", hasFailed)
	p.sends("client", "past a")
	p.meets(all...)
	p.crosses()
	p.sh("b", nstest.Mends)
	p.well("b")
	p.meets(all...)
	p.sh("a", nstest.Mends)
	p.well("a")
	p.sends("client", "")
	p.meets(all...)
}

// TestLedPastBesideStops: packets that are led past functions which fail meet those at stops before and behind these as ever, and with what these know.
func TestLedPastBesideStops(t *testing.T) {
	const nat = `{name: nat, kind: nat, runtime: inline, nat: {source: {addresses: [203.0.113.9, "2001:db8::9"]}}}`
	for name, c := range map[string]struct {
		spec string
		fail []string
	}{
		"on a path": {spec(guard("before", "7098"), first, guard("behind", "7099"), last) +
			"classifier: {rules: [{name: x, match: {protocol: udp}, functions: [before, a, behind]}]}\n", []string{"a"}},
		"in another order": {spec(guard("before", "7098"), first, guard("behind", "7099"), last) +
			"classifier: {otherwise: chain, rules: [{name: x, match: {protocol: udp}, functions: [behind, a, before]}]}\n", []string{"a"}},
		"replicas":           {spec(guard("before", "7098"), "{name: a, kind: forward, replicas: 2, onFailure: bypass}", guard("behind", "7099")), []string{"a-1", "a-2"}},
		"what is translated": {spec(nat, first, guard("before", "7098"), guard("behind", "7099")), []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPath(t, c.spec)
			p.well(c.fail...)
			p.meets("before", "behind")
			for _, node := range c.fail {
				p.sh(node, nstest.Drops)
				p.until(node, "failed", hasFailed)
			}
			p.meets("before", "behind")
			for _, node := range c.fail {
				p.sh(node, nstest.Mends)
			}
			p.well(c.fail...)
			p.meets("before", "behind")
		})
	}
}
