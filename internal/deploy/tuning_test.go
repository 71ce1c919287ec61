package deploy_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/tuning"
)

func tuned(fields string) string { return spec(forward("a")) + "tuning: {" + fields + "}\n" }

// tunings that a namespace's interfaces and its TCP carry, as "device: knob=value".
func tunings(t *testing.T, p *plan.Plan, n plan.Node) (all []string) {
	t.Helper()
	found, err := (tuning.Kind{}).Read(resource.At(nstest.Open(t, n.Namespace), p.Chain))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range found {
		all = append(all, o.Key+": "+o.Fingerprint)
	}
	slices.Sort(all)
	return all
}

// TestTuning takes a chain through edits of its knobs alone. Links, addresses and routes
// stay, and what is set no more is again what it was.
func TestTuning(t *testing.T) {
	needs(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	up(t, planned(t, owner, spec(forward("a"))))
	for _, edit := range []struct {
		fields string
		lo     []string
		device string
	}{
		{"gro: true, tso: false, gso_max_size: 100000, tcp_congestion_control: reno, tcp_rmem: [4096, 65536, 1MiB]",
			[]string{"lo: tcp_congestion_control=reno tcp_rmem=4096 65536 1048576"}, "tso=false gro=true gso_max_size=100000"},
		{"gro: true, rps: '0', tcp_mss: 1000", nil, "gro=true rps=0 tcp_mss=1000"},
		{"tcp_window_scaling: false, threaded_napi: true, gro: true", []string{"lo: tcp_window_scaling=false"}, "gro=true threaded_napi=true"},
		{"", nil, ""},
	} {
		p := planned(t, owner, tuned(edit.fields))
		for _, c := range up(t, p) {
			if !strings.Contains(c, " tuning:") {
				t.Errorf("{%s} changed %s", edit.fields, c)
			}
		}
		unchanged(t, p)
		crosses(t, p)
		for _, n := range p.Nodes {
			want := slices.Clone(edit.lo)
			for _, i := range []*plan.Interface{n.West, n.East} {
				if i != nil && edit.device != "" {
					want = append(want, i.Device+": "+edit.device)
				}
			}
			slices.Sort(want)
			if got := tunings(t, p, n); !slices.Equal(got, want) {
				t.Errorf("{%s}: %s has %v, want %v", edit.fields, n.Name, got, want)
			}
		}
	}
	p := planned(t, owner, spec(forward("a")))
	for _, n := range p.Nodes {
		if out := sh(t, "ip -n "+n.Namespace+" link show"); strings.Contains(out, "altname") {
			t.Errorf("a mark was left: %s", out)
		}
	}
}

// TestTuningHeals changes what was set, and makes anew what it was set at.
func TestTuningHeals(t *testing.T) {
	needs(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	p := planned(t, owner, tuned("gro: true, tcp_mss: 1000, tcp_window_scaling: false"))
	up(t, p)
	a := p.Functions()[0].Namespace
	for line, want := range map[string][]string{
		"ip netns exec " + a + " ethtool -K eth0 gro off":                           {"update tuning:a:eth0"},
		"ip -n " + a + " route flush proto 78":                                      {"create route", "update tuning:a:eth0", "update tuning:a:eth1"},
		"ip netns exec " + a + " sysctl -qw net.ipv4.tcp_window_scaling=1":          {"update tuning:a:lo"},
		"ip -n " + a + " link delete eth0":                                          {"create link", "create tuning:a:eth0", "create tuning:client:eth0"},
		"ip -n " + a + " link property del dev eth0 altname nfchain,eth0,gr=f,ms=n": {"create tuning:a:eth0"},
	} {
		sh(t, line)
		got := strings.Join(up(t, p), "\n")
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: not %q among\n%s", line, w, got)
			}
		}
		unchanged(t, p)
		crosses(t, p)
	}
}

// TestSegmentSize is what a connection over the chain, and over the direct path, starts
// from at both ends.
func TestSegmentSize(t *testing.T) {
	needs(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	p := direct(t, owner, tuned("tcp_mss: 1000, tcp_congestion_control: reno"))
	up(t, p)
	for _, to := range append(addresses(p, "client", "server"), p.Direct.Server.Addresses...) {
		for _, end := range connected(t, p, to.String()) {
			if end.Advmss > 1000 || end.Snd_mss > 1000 || end.Snd_mss < 900 {
				t.Errorf("a connection to %s announces %d and sends %d", to, end.Advmss, end.Snd_mss)
			}
		}
	}
}

// connected opens a connection and asks both ends of it.
func connected(t *testing.T, p *plan.Plan, to string) (ends []*unix.TCPInfo) {
	t.Helper()
	var listener net.Listener
	listen := func() (err error) {
		listener, err = net.Listen("tcp", net.JoinHostPort(to, "0"))
		return err
	}
	if err := netns.Do(p.Server().Namespace, listen); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	var out net.Conn
	if err := netns.Do(p.Client().Namespace, func() (err error) {
		out, err = dialHere(listener.Addr().String())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	in, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{out, in} {
		raw, err := c.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		if err := raw.Control(func(fd uintptr) {
			info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
			if err != nil {
				t.Error(err)
				return
			}
			ends = append(ends, info)
			if name, err := unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION); err != nil || strings.TrimRight(name, "\x00") != "reno" {
				t.Errorf("congestion control %q, %v", name, err)
			}
		}); err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
	return ends
}

// dialHere connects from the thread's own namespace: a dialler of several addresses would
// go on in goroutines elsewhere.
func dialHere(address string) (net.Conn, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	return net.DialTCP("tcp", nil, a)
}

// TestTuningRefused: what the kernel does not take stops `up`, which says what and where.
func TestTuningRefused(t *testing.T) {
	needs(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	d := &deploy.Deployer{}
	_, err := d.Up(context.Background(), planned(t, owner, tuned("scatter_gather: false, gso: true")))
	if err == nil || !strings.Contains(err.Error(), "gso: true was asked for, and the kernel has false") || !strings.Contains(err.Error(), "nfchain."+owner) {
		t.Error(err)
	}
	left := nstest.Namespace(t)
	chain := plantest.Chain(t, owner, fmt.Sprintf("endpoints: [{name: l, namespace: %s}, {name: r}]\ntuning: {tcp_congestion_control: reno}\n", left))
	if _, err := plan.Make(chain, plantest.Catalogue(), plan.Facts{}, plan.Options{}); err == nil || !strings.Contains(err.Error(), "tuning.tcp_congestion_control: namespace "+left) {
		t.Error(err)
	}
}
