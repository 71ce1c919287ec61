package run

import (
	"net/netip"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/traffic/iperf3"
	"nfchain.dev/nfchain/internal/traffic/netperf"
	"nfchain.dev/nfchain/internal/traffic/ping"
	"nfchain.dev/nfchain/internal/traffic/rr"
	"nfchain.dev/nfchain/internal/traffic/sockperf"
	sites "nfchain.dev/nfchain/internal/traffic/web"
	"nfchain.dev/nfchain/internal/trial"
)

// TestReaches refuses what would be answered by the function that translates, or by
// nobody.
func TestReaches(t *testing.T) {
	a := []netip.Addr{netip.MustParseAddr("192.0.2.1")}
	all := plan.Service{Addresses: a, Served: a}
	web := plan.Service{Addresses: a, Served: a, Protocol: "tcp", FirstPort: 80, LastPort: 80, ToPort: 8080}
	few := plan.Service{Addresses: a, Served: a, Protocol: "tcp", FirstPort: 5200, LastPort: 5203}
	names := plan.Service{Addresses: a, Served: a, Protocol: "udp"}
	shared := plan.Service{Addresses: a, Served: append(a, a[0].Next())}
	for _, c := range []struct {
		service  plan.Service
		tool     traffic.Tool
		protocol string
		flows    int
		want     string
	}{
		{all, ping.Tool{}, trial.Latency, 1, ""}, {all, iperf3.Tool{}, trial.TCP, 100, ""},
		{shared, iperf3.Tool{}, trial.TCP, 8, ""}, {shared, iperf3.Tool{}, trial.UDP, 1, "answers datagrams"}, {shared, ping.Tool{}, trial.Latency, 1, ""},
		{shared, sockperf.Tool{}, trial.Latency, 1, "answers datagrams"}, {shared, builtin.Tool{}, trial.UDP, 1, ""}, {shared, rr.Tool{}, trial.TCPRR, 1, ""},
		{web, iperf3.Tool{}, trial.TCP, 1, ""}, {web, rr.Tool{}, trial.TCPCRR, 1, ""},
		{web, iperf3.Tool{}, trial.TCP, 2, "only tcp port 80 to its second end: its 2 flows need 2 ports"},
		{web, ping.Tool{}, trial.Latency, 1, "its packets have no ports"}, {web, iperf3.Tool{}, trial.UDP, 1, "goes over udp"},
		{web, sockperf.Tool{}, trial.Latency, 1, "goes over udp"}, {web, netperf.Tool{}, trial.TCPRR, 1, "need 2 ports"},
		{few, iperf3.Tool{}, trial.TCP, 3, ""}, {few, iperf3.Tool{}, trial.TCP, 4, "ports 5200 to 5203"}, {few, netperf.Tool{}, trial.TCPRR, 2, ""},
		{web, sites.Tool{}, trial.HTTP, 100, ""}, {names, sites.Tool{}, trial.HTTP, 1, "goes over tcp"},
		{names, sockperf.Tool{}, trial.Latency, 1, ""}, {names, iperf3.Tool{}, trial.UDP, 1, "TCP connection"}, {names, iperf3.Tool{}, trial.TCP, 1, "goes over tcp"},
	} {
		condition := trial.Condition{Path: trial.PathChain, Protocol: c.protocol, Flows: c.flows}
		err := reaches(c.service, condition, c.tool)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s with %d flows over %+v: error %v, want %q", c.tool.Name(), c.protocol, c.flows, c.service, err, c.want)
		}
		condition.Path = trial.PathDirect
		if err := reaches(c.service, condition, c.tool); err != nil {
			t.Error("the direct path:", err)
		}
	}
}

func TestPorts(t *testing.T) {
	for s, want := range map[[3]uint16][2]int{{}: {5201, 5201}, {80, 80, 8080}: {80, 8080}, {80, 90, 0}: {80, 80}, {5000, 6000, 0}: {5201, 5201}} {
		if to, at := ports(plan.Service{FirstPort: s[0], LastPort: s[1], ToPort: s[2]}); to != want[0] || at != want[1] {
			t.Errorf("%v: to %d at %d", s, to, at)
		}
	}
}

// TestBoundTo listens at the one address, or at any where connections are shared out.
func TestBoundTo(t *testing.T) {
	a, b, c := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("2001:db8::1")
	for _, s := range []struct {
		service plan.Service
		want    netip.Addr
	}{
		{plan.Service{Addresses: []netip.Addr{a, c}, Served: []netip.Addr{b, c}}, b},
		{plan.Service{Addresses: []netip.Addr{a}, Served: []netip.Addr{a, b}}, netip.IPv4Unspecified()},
		{plan.Service{Addresses: []netip.Addr{c}, Served: []netip.Addr{c, c.Next()}}, netip.IPv6Unspecified()},
	} {
		if got := boundTo(s.service); got != s.want {
			t.Errorf("%+v: %s", s.service, got)
		}
	}
}
