package trace_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
)

// TestExplainAnyProtocol: flows of protocols that rules name take the path of that, and are followed, of either version of IP.
func TestExplainAnyProtocol(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	b := newBed(t, `wiring: ebpf
functions: [{name: a, kind: forward}, {name: b, kind: forward}]
classifier:
  rules:
  - {name: signals, match: {protocol: sctp, destination_port: 3868}, functions: [a]}
  - {name: tunnels, match: {protocol: gre}, functions: [b]}
  - {name: routers, match: {protocol: 89}, functions: [a, b]}
  - {name: films, match: {protocol: 136, destination_port: 5004}, functions: [b, a]}
`)
	const far = "it goes through the chain"
	for _, server := range []string{b.addressOf("server", false), b.addressOf("server", true)} {
		at := func(port string) string { return net.JoinHostPort(server, port) }
		for _, c := range []struct{ protocol, to, flow, path, steps string }{
			{"sctp", at("3868"), "sctp ", "path: a, by rule signals", "client 0 3, a 3 3, server 3 0"},
			{"132", at("3869"), "sctp ", "path: direct, by no rule", "client 0 3, server 3 0"},
			{"47", server, "gre ", "path: b, ", "client 0 3, b 3 3, server 3 0"},
			{"esp", server, "esp ", "path: direct, ", "client 0 3, server 3 0"},
			{"89", server, "protocol 89 ", "path: a → b, ", "client 0 3, a 3 3, b 3 3, server 3 0"},
			{"255", server, "protocol 255 ", "path: direct, ", "client 0 3, server 3 0"},
			{"udplite", at("5004"), "udplite ", "path: b → a, by rule films", "client 0 3, b 3 3, a 3 3, server 3 0"},
			{"dccp", at("5005"), "dccp ", "path: direct, by no rule", "client 0 3, server 3 0"},
		} {
			e := b.explained(far, c.protocol, "client", c.to)
			b.steps(e, c.steps)
			if !strings.HasPrefix(e.Flow, c.flow) || !strings.HasPrefix(e.Path, c.path) {
				t.Errorf("%q, want %q; %q, want %q", e.Flow, c.flow, e.Path, c.path)
			}
			if c.protocol == "89" {
				b.because(e, "server: 3 dropped", "nobody takes packets of that protocol")
			}
		}
	}
	b.steps(b.explained(far, "ah", "client", "server"), "client 0 3, server 3 0")
	b.steps(b.explained(far, "icmpv6", "server", "client"), "server 0 3, client 3 0")
}

// TestExplainedPacketsAreProper: connection tracking, which looks at headers and checksums, takes those of no protocol for invalid. It does
// all of UDP-Lite, whoever sends it (Linux 6.18), so that a socket tells of those.
func TestExplainedPacketsAreProper(t *testing.T) {
	b := newBed(t, "functions: [{name: fw, kind: firewall, firewall: {rules: {list: [{state: [invalid], action: drop}]}}}]\n")
	for _, six := range []bool{false, true} {
		server := b.addressOf("server", six)
		for _, protocol := range []string{"tcp", "udp", "sctp", "dccp", "icmp", "gre", "esp", "89"} {
			to := server
			if api.Protocol(protocol).Ported() {
				to = net.JoinHostPort(server, "4433")
			}
			b.steps(b.explained("it goes through the chain", protocol, "client", to), "client 0 3, fw 3 3, server 3 0")
		}
	}
}

// TestExplainUDPLite: a socket of the kernel's takes the packets, of which it has the sums checked.
func TestExplainUDPLite(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	fd := -1
	err := netns.Do(b.plan.Server().Namespace, func() (err error) {
		fd, err = unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_UDPLITE)
		return err
	})
	if errors.Is(err, unix.EPROTONOSUPPORT) {
		t.Skipf("this kernel has no UDP-Lite: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet6{Port: 4433}); err != nil {
		t.Fatal(err)
	}
	e := b.explained("it goes through the chain: server got it", "udplite", "client", net.JoinHostPort(b.addressOf("server", true), "4433"))
	b.steps(e, "client 0 3, f0 3 3, server 3 0")
}
