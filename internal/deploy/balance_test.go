package deploy_test

import (
	"net"
	"net/netip"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

const backends = `endpoints: [{name: client}, {name: server, addresses: [203.0.113.1, 203.0.113.2, "2001:db8::1"]}]
`

// TestLoadBalancerSharesOut by turns exactly, and by hash in about equal parts and
// always the same.
func TestLoadBalancerSharesOut(t *testing.T) {
	needs(t)
	nstest.Require(t, feature.NFTNAT)
	const connections = 60
	for _, by := range []string{"round-robin", "hash"} {
		t.Run(by, func(t *testing.T) {
			p := planned(t, nstest.Owner(t), backends+spec(forward("a"), "{name: lb, kind: loadbalancer, loadbalancer: {by: "+by+"}}"))
			downAfter(t, p.Chain)
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			for _, to := range p.Reached().Addresses {
				before := sharedOut(t, p)
				arrived := map[netip.Addr]int{}
				for i := range connections {
					arrived[connect(t, p, netip.AddrPortFrom(to, 80), 20000+i)]++
				}
				of := 3 // its own address and two more
				if to.Is6() {
					of = 2
				}
				t.Logf("%s: %v", to, arrived)
				least, most := connections/of, connections/of
				if by == "hash" {
					least, most = 1, connections-of+1
				}
				if len(arrived) != of {
					t.Errorf("%s: connections arrived at %v", to, arrived)
				}
				after := sharedOut(t, p)
				for backend, n := range arrived {
					if n < least || n > most || after[backend.String()]-before[backend.String()] != uint64(n) {
						t.Errorf("%s: %d connections arrived, and %d were counted", backend, n, after[backend.String()]-before[backend.String()])
					}
				}
				if first, again := connect(t, p, netip.AddrPortFrom(to, 81), 30000), connect(t, p, netip.AddrPortFrom(to, 82), 30000); by == "hash" && first != again {
					t.Errorf("one source goes to %s and to %s", first, again)
				}
			}
		})
	}
}

// connect opens a connection from a port of the client's and tells where it arrives.
func connect(t *testing.T, p *plan.Plan, to netip.AddrPort, from int) netip.Addr {
	t.Helper()
	var listener net.Listener
	var near net.Conn
	inside(t, p.Server().Namespace, func() (err error) {
		listener, err = net.ListenTCP("tcp", &net.TCPAddr{Port: int(to.Port())})
		return
	})
	defer func() { _ = listener.Close() }()
	inside(t, p.Client().Namespace, func() (err error) {
		near, err = (&net.Dialer{LocalAddr: &net.TCPAddr{Port: from}, Timeout: long}).Dial("tcp", to.String())
		return
	})
	// Without a linger, so that its port is free at once, whoever closes first.
	defer func() { _ = near.(*net.TCPConn).SetLinger(0); _ = near.Close() }()
	far, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = far.Close() }()
	return far.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
}

// sharedOut is how many connections the rule of each back end counted.
func sharedOut(t *testing.T, p *plan.Plan) map[string]uint64 {
	t.Helper()
	lb := p.Functions()[1]
	at := resource.At(nstest.Open(t, lb.Namespace), p.Chain)
	counted := map[string]uint64{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(ruleset.Spec); is && r.Namespace == lb.Namespace {
			counters, err := ruleset.Count(at, s)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range counters.Rules {
				counted[s.Rules[c.Rule-1].Translate.Address.String()] += c.Packets
			}
		}
	}
	return counted
}
