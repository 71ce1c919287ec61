package run_test

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/capture"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/run"
)

// TestCapturedOnPaths: where a classifier chooses, each packet tells the path of its flow, at every hop of it and both ways, in both families.
func TestCapturedOnPaths(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	b := newBed(t, `wiring: ebpf
functions: [{name: a, kind: forward}, {name: b, kind: forward}]
classifier:
  rules:
  - {name: one, match: {protocol: udp, destination_port: 7001}, functions: [b, a]}
  - {name: other, match: {protocol: udp, destination_port: 7002}, functions: []}
`)
	b.up(run.UpOptions{Wait: true})
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	for port, want := range map[uint16]string{7001: ", on path b → a", 7002: ", on path direct"} {
		for _, to := range p.Server().West.Addresses {
			stop := echoes(t, p, ":0", netip.AddrPortFrom(to, port))
			c, err := run.Captured(p, "")
			if err != nil {
				t.Fatal(err)
			}
			const packets = 40
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			var file bytes.Buffer
			_, err = capture.Run(ctx, c, capture.Options{Filter: "udp and port " + strconv.Itoa(int(port)), Snaplen: 128, Count: packets, Buffer: 64 << 20}, &file)
			cancel()
			stop()
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(file.String(), want); n != packets {
				t.Errorf("to %s, port %d: of %d packets %d are%s", to, port, packets, n, want)
			}
			for _, way := range []string{"forward" + want, "reverse" + want} {
				if !strings.Contains(file.String(), way) {
					t.Errorf("to %s, port %d: no packet is %s", to, port, way)
				}
			}
		}
	}
	if c, err := run.Captured(p, "a"); err != nil || c.PathOf([]byte("no frame")) != "" || c.PathOf(make([]byte, 64)) != "" {
		t.Errorf("%v: what has no flow has a path", err)
	}
}

// echoes sends packets from an address of the first end to one of the second, which sends them back, until the function that is given is called.
func echoes(t *testing.T, p *plan.Plan, by string, to netip.AddrPort) (stop func()) {
	t.Helper()
	var from, at net.PacketConn
	listen := func(in plan.Node, address string, c *net.PacketConn) error {
		return netns.Do(in.Namespace, func() (err error) { *c, err = net.ListenPacket("udp", address); return err })
	}
	if err := listen(p.Server(), to.String(), &at); err != nil {
		t.Fatal(err)
	}
	if err := listen(p.Client(), by, &from); err != nil {
		_ = at.Close()
		t.Fatal(err)
	}
	done := make(chan struct{}, 2)
	go func() {
		defer func() { done <- struct{}{} }()
		for b := make([]byte, 64); ; {
			n, who, err := at.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = at.WriteTo(b[:n], who)
		}
	}()
	ended := make(chan struct{})
	go func() {
		defer func() { done <- struct{}{} }()
		for {
			_, _ = from.WriteTo([]byte("hello"), net.UDPAddrFromAddrPort(to)) // one that is refused is sent again
			select {
			case <-ended:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(ended)
		_, _ = at.Close(), from.Close()
		<-done
		<-done
	}
}
