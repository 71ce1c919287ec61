package deploy_test

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
)

// path is what is sent by an address of a chain's server: packets that have the path's number, and their own.
type path struct {
	number uint32
	from   net.Conn
	to     net.PacketConn
}

// pathsOf chains: one for each address by which a client reaches its server.
func pathsOf(tb testing.TB, plans []*plan.Plan) (all []path) {
	tb.Helper()
	for _, p := range plans {
		for _, at := range addresses(p, p.Client().Name, p.Server().Name) {
			at, l := netip.AddrPortFrom(at, 7013).String(), path{number: uint32(len(all))}
			inside(tb, p.Server().Namespace, func() (err error) { l.to, err = net.ListenPacket("udp", at); return })
			tb.Cleanup(func() { _ = l.to.Close() })
			inside(tb, p.Client().Namespace, func() (err error) { l.from, err = net.Dial("udp", at); return })
			tb.Cleanup(func() { _ = l.from.Close() })
			all = append(all, l)
		}
	}
	return all
}

// eachCarries so many packets by each of its addresses, those of all chains by turns: they come to their own server, each
// once, but for what this machine dropped meanwhile because another test floods it.
func eachCarries(tb testing.TB, plans []*plan.Plan, packets uint32) {
	tb.Helper()
	all, dropped, lost := pathsOf(tb, plans), nstest.Dropped(tb), uint64(0)
	for n := range packets {
		for _, l := range all {
			if _, err := l.from.Write(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, l.number), n)); err != nil {
				tb.Fatal(err)
			}
		}
	}
	for end, n := time.Now().Add(30*time.Second), 0; n < len(all); n++ {
		lost += uint64(packets) - all[n].takes(tb, packets, end)
	}
	if drop := nstest.Dropped(tb) - dropped; lost > drop {
		tb.Errorf("of %d packets by each of %d paths of %d chains %d did not come; cores dropped %d", packets, len(all), len(plans), lost, drop)
	}
}

// takes what comes until a time, and what is there by then: how many of so many packets.
func (l path) takes(tb testing.TB, packets uint32, end time.Time) (n uint64) {
	tb.Helper()
	came, b := map[uint32]bool{}, make([]byte, 64)
	for uint32(len(came)) < packets {
		_ = l.to.SetReadDeadline(time.Now().Add(max(time.Until(end), 20*time.Millisecond)))
		n, _, err := l.to.ReadFrom(b)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil || n != 8 {
			tb.Fatalf("%d bytes, error %v", n, err)
		}
		of, number := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
		if of != l.number || came[number] {
			tb.Fatalf("to %s came packet %d of path %d, and it is path %d's; it was there already: %t", l.to.LocalAddr(), number, of, l.number, came[number])
		}
		came[number] = true
	}
	return uint64(len(came))
}

// countsOwn fails the test if a chain's first function counted less than what was sent through it, or much more: the kernel
// sends something of its own when a link comes up.
func countsOwn(tb testing.TB, plans []*plan.Plan, sent uint64) {
	tb.Helper()
	for n, p := range plans {
		if c := taken(tb, p, p.Inline[0].Forward); c.Packets < sent || c.Packets > sent+50 {
			tb.Errorf("chain %d of %d counted %d packets, where %d were sent", n, len(plans), c.Packets, sent)
		}
	}
}
