package run_test

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/run"
)

// TestAnswersComeBackToTheReplicaThatAsked: connections that replicas' programs have of their own, to whichever end, also with the port that another
// replica had before, and whatever is edited.
func TestAnswersComeBackToTheReplicaThatAsked(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	const (
		line   = "wiring: ebpf\nebpf: {flows: %d%s}\nfunctions: [{name: before, kind: forward}, {name: px, kind: command, replicas: %d, command: {args: [sleep, infinity]}}, {name: after, kind: forward, replicas: 2}]\n"
		rules  = line + "classifier: {otherwise: chain, rules: [{name: short, match: {protocol: tcp, destination_port: 1-9000}, functions: [px]}, {name: long, match: {protocol: tcp}, functions: [before, px, after]}]}\n"
		inline = "wiring: ebpf\nebpf: {flows: %d%s}\nfunctions: [{name: fw, kind: firewall, runtime: inline}, {name: px, kind: command, replicas: %d, command: {args: [sleep, infinity]}}, {name: c, kind: counter, runtime: inline}]\n"
	)
	for name, c := range map[string]struct{ text, hook string }{
		"at tcx": {line, ", hook: tcx"}, "at clsact": {line, ", hook: clsact"}, "on paths": {rules, ""}, "beside inline functions": {inline, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.hook == ", hook: tcx" {
				nstest.Require(t, feature.BPFTCX)
			}
			b := newBed(t, fmt.Sprintf(c.text, 65536, c.hook, 2))
			b.up(run.UpOptions{Wait: true})
			made, err := b.host.Made(b.name())
			if err != nil {
				t.Fatal(err)
			}
			b.eachAsks(made)
			for _, edit := range []struct{ flows, replicas int }{{65536, 2}, {65536, 3}, {131072, 3}, {131072, 2}, {131072, 1}, {65536, 3}} {
				b.chain = plantest.Chain(t, b.name(), fmt.Sprintf(c.text, edit.flows, c.hook, edit.replicas))
				p, _, err := b.edit(t.Context(), run.UpOptions{})
				if err != nil {
					t.Fatal(err)
				}
				b.eachAsks(p)
				_, changes, err := b.edit(t.Context(), run.UpOptions{}) // which may remove a replica that was left flows which others have by now
				if err != nil || slices.ContainsFunc(changes, func(c resource.Change) bool { return c.Op != resource.Delete }) {
					t.Errorf("with %+v a second up changes %v, error %v", edit, changes, err)
				}
			}
		})
	}
}

// TestReplicasThatGoAskOn: what is taken out while flows stay has connections of its own until they are over.
func TestReplicasThatGoAskOn(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	const (
		wiring = "wiring: ebpf\nebpf: {idle: 10s, census: 1s}\n"
		px     = "{name: px, kind: command, replicas: %d, command: {args: [sleep, infinity]}}"
	)
	for name, after := range map[string]string{"all of them": "functions: [{name: other, kind: forward}]\n", "one of two": "functions: [" + fmt.Sprintf(px, 1) + "]\n", "one of three": "functions: [" + fmt.Sprintf(px, 2) + "]\n"} {
		t.Run(name, func(t *testing.T) {
			replicas := 2
			if name == "one of three" {
				replicas = 3
			}
			b := newBed(t, wiring+"functions: ["+fmt.Sprintf(px, replicas)+"]\n")
			b.up(run.UpOptions{Wait: true})
			p, err := b.host.Made(b.name())
			if err != nil {
				t.Fatal(err)
			}
			end := b.greets(p)
			defer end()
			b.chain = plantest.Chain(t, b.name(), wiring+after)
			var flows run.Flows
			if _, _, err := b.edit(t.Context(), run.UpOptions{Flows: &flows}); err != nil || flows.Staying+flows.Left == 0 {
				t.Fatalf("no flow stays: %+v, %v", flows, err)
			}
			for _, n := range p.Functions() {
				b.asks(n, p.Server())
			}
		})
	}
}

// eachAsks has each replica of a function px ask both ends.
func (b *bed) eachAsks(p *plan.Plan) {
	b.Helper()
	for _, n := range p.Functions() {
		if n.Function() == "px" {
			b.asks(n, p.Server())
			b.asks(n, p.Client())
		}
	}
}

// asks has a node open connections to an end, from the same few ports as any other, and fails where an answer does not come.
func (b *bed) asks(n, end plan.Node) {
	b.Helper()
	at := end.West
	if at == nil {
		at = end.East
	}
	for _, to := range at.Addresses {
		var l net.Listener
		err := netns.Do(end.Namespace, func() (err error) {
			l, err = net.Listen("tcp", netip.AddrPortFrom(to, 7777).String())
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		go gives(l)
		for port := 40000; port < 40008 && err == nil; port++ {
			err = netns.Do(n.Namespace, func() error { return gets(port, l.Addr().String()) })
		}
		if err != nil {
			b.Errorf("%s asks %s: %v", n.Name, end.Name, err)
		}
		_ = l.Close()
	}
}

// gives back what comes.
func gives(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.Copy(c, c)
		_ = c.Close()
	}
}

// gets back a byte over a connection from a port, which the next may have.
func gets(port int, to string) error {
	d := net.Dialer{Timeout: 10 * time.Second, LocalAddr: &net.TCPAddr{Port: port}}
	c, err := d.Dial("tcp", to)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if err := c.(*net.TCPConn).SetLinger(0); err != nil {
		return err
	}
	if _, err := c.Write([]byte("x")); err != nil {
		return err
	}
	_, err = io.ReadFull(c, make([]byte, 1))
	return err
}
