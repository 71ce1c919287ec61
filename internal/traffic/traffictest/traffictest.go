// Package traffictest gives tests of traffic tools two joined namespaces and
// tools that misbehave.
package traffictest

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Job is a trial of one second between two namespaces joined by a veth pair. They
// go with the test.
func Job(tb testing.TB, c trial.Condition) traffic.Job {
	tb.Helper()
	client, server := nstest.Namespace(tb), nstest.Namespace(tb)
	job := traffic.Job{FirstPort: 5201, Condition: c, Ends: traffic.Ends{
		ClientNetns: client, ServerNetns: server, ClientNode: "client", ServerNode: "server",
		Address: netip.MustParseAddr("192.0.2.2"),
	}}
	if c.Flows == 0 {
		job.Condition.Flows = 1
	}
	if c.DurationS == 0 {
		job.Condition.DurationS = 1
	}
	a, b := nstest.Open(tb, client), nstest.Open(tb, server)
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "veth0", MTU: 1500}, PeerName: "veth0", PeerNamespace: netlink.NsFd(b.FD())}
	if err := a.LinkAdd(pair); err != nil {
		tb.Fatal(err)
	}
	address(tb, a, "192.0.2.1/24")
	address(tb, b, "192.0.2.2/24")
	// Until then the first packets are lost, and addresses are asked for again only after
	// a second.
	nstest.Carries(tb, a, "veth0")
	nstest.Carries(tb, b, "veth0")
	return job
}

func address(tb testing.TB, h *netns.Handle, cidr string) {
	tb.Helper()
	l, err := h.LinkByName("veth0")
	if err != nil {
		tb.Fatal(err)
	}
	ip, network, _ := net.ParseCIDR(cidr)
	if err := h.AddrAdd(l, &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: network.Mask}}); err != nil {
		tb.Fatal(err)
	}
	if err := h.LinkSetUp(l); err != nil {
		tb.Fatal(err)
	}
	lo, err := h.LinkByName("lo")
	if err == nil {
		err = h.LinkSetUp(lo)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// Replace puts a shell script in place of a tool for the rest of the test.
func Replace(tb testing.TB, tool, script string) {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.WriteFile(filepath.Join(dir, tool), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		tb.Fatal(err)
	}
	tb.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// Empty fails the test if any process lives in the job's namespaces.
func Empty(tb testing.TB, j traffic.Job) {
	tb.Helper()
	found, err := netns.Processes([]string{j.ClientNetns, j.ServerNetns})
	if err != nil {
		tb.Fatal(err)
	}
	for ref, pids := range found {
		for _, pid := range pids {
			command, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
			tb.Errorf("process %d is left in %s: %q", pid, ref, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
}

// IPv6 has a job's traffic go over IPv6.
func IPv6(tb testing.TB, j *traffic.Job) {
	tb.Helper()
	addresses := map[string]string{j.ClientNetns: "2001:db8::1/64", j.ServerNetns: "2001:db8::2/64"}
	for ref, cidr := range addresses {
		h := nstest.Open(tb, ref)
		l, err := h.LinkByName("veth0")
		if err != nil {
			tb.Fatal(err)
		}
		ip, network, _ := net.ParseCIDR(cidr)
		// Without duplicate address detection, which takes a second.
		addr := &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: network.Mask}, Flags: unix.IFA_F_NODAD}
		if err := h.AddrAdd(l, addr); err != nil {
			tb.Fatal(err)
		}
	}
	j.Address = netip.MustParseAddr("2001:db8::2")
}
