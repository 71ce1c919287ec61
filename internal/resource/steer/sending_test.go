package steer_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// TestSendingPorts: to a node that takes nothing but what its port sends, each packet goes by the
// port's own device, whatever has chosen that port; to another it does not.
func TestSendingPorts(t *testing.T) {
	const port = "send1"
	onHooks(t, func(t *testing.T, hook string) {
		f := newForwarderOf(t, []string{"port0", port, "port2"})
		west, node, other := f.wire(t, 0), f.wire(t, 1), f.wire(t, 2)
		number := uint32(0xabcd0000)
		passes := func(to wire, what string) (grew uint64) {
			t.Helper()
			before := f.sent(t, port)
			number++
			sent := frame(stranger, []byte{8, 0}, 100, number)
			if got := west.pass(t, sent, to); !bytes.Equal(got.frame, sent) {
				t.Errorf("%s: sent\n%x\ngot\n%x", what, sent, got.frame)
			}
			return f.sent(t, port) - before
		}
		idle := api.Duration(time.Hour)
		for what, s := range map[string]steer.Spec{
			"next":    {To: port},
			"staying": {To: port, Stay: &steer.Stay{Flows: 1 << 12, Idle: idle}},
			"among":   {Among: &steer.Among{Of: "web", Flows: 1 << 12, Idle: idle, Replicas: []steer.Replica{{Number: 3, Port: port, Weight: 1}}}},
		} {
			s.Device, s.Hook = "port0", hook
			f.apply(t, resource.Update, s)
			if found := f.read(t)["port0"]; found != s.Fingerprint() {
				t.Errorf("%s reads back %q, want %q", what, found, s.Fingerprint())
			}
			if n := passes(node, what); n == 0 {
				t.Errorf("%s: the port sent nothing", what)
			}
		}
		f.apply(t, resource.Update, steer.Spec{Device: "port0", To: "port2", Hook: hook})
		if n := passes(other, "beside it"); n != 0 {
			t.Errorf("the port sent %d packets that are for another", n)
		}
		f.Place = resource.At(f.Handle, f.Owner)
		open := f.open(t, "port0")
		defer open.Close()
		f.apply(t, resource.Create, steer.Spec{Device: port, To: "port0", Hook: hook})
		instead := f.open(t, port)
		defer instead.Close()
		if err := open.SetInstead(instead.Number); err != nil {
			t.Fatal(err)
		}
		if n := passes(node, "instead"); n == 0 {
			t.Error("instead: the port sent nothing")
		}
	})
}

// TestSendingPortsAreToldThePath that all is on what goes as branches lead, beside others, in a tag outside of those that a frame has, there
// and back, also past a node that fails; ports that are not such are told nothing.
func TestSendingPortsAreToldThePath(t *testing.T) {
	const port, path = "send1", 77
	onHooks(t, func(t *testing.T, hook string) {
		f := newForwarderOf(t, []string{"port0", port, "port2"})
		west, node, other := f.wire(t, 0), f.wire(t, 1), f.wire(t, 2)
		named := []byte{0x81, 0, 0xff, path}
		number := uint32(0xabce0000)
		for _, c := range []struct {
			to    string
			at    wire
			back  bool
			fails bool
			tag   []byte
		}{{port, node, false, false, named}, {port, node, true, false, named}, {"port2", other, false, false, nil}, {"port2", node, false, true, named}} {
			b := &steer.Branch{Node: "port0", Number: 100, Back: c.back, Path: path, Flows: 1 << 12, Ways: []steer.BranchWay{{Node: c.to, Number: 101, Port: c.to}}}
			s := steer.Spec{Device: "port0", To: c.to, Branch: b, Hook: hook}
			f.apply(t, resource.Update, s)
			if found := f.read(t)["port0"]; found != s.Fingerprint() {
				t.Errorf("reads back %q, want %q", found, s.Fingerprint())
			}
			if c.fails {
				l, err := f.LinkByName(port)
				if err != nil {
					t.Fatal(err)
				}
				open := f.open(t, "port0")
				defer open.Close()
				if err := open.SetNodes(map[uint32]steer.Node{101: {Fails: steer.Past, Next: 102}, 102: {Port: uint32(l.Attrs().Index) | 1<<31}}); err != nil {
					t.Fatal(err)
				}
			}
			for _, tag := range [][]byte{nil, {0x81, 0, 0, 5}, {0x81, 0, 0xff, 9}} {
				number++
				sent := frame(stranger, []byte{8, 0}, 100, number)
				sent = slices.Concat(sent[:12], tag, sent[12:])
				want := slices.Concat(sent[:12], c.tag, sent[12:])
				if got := west.pass(t, sent, c.at); !bytes.Equal(got.frame, want) {
					t.Errorf("%+v: sent\n%x\ngot\n%x, want\n%x", c, sent, got.frame, want)
				}
			}
		}
	})
}

func (f *forwarder) open(t testing.TB, port string) *steer.Port {
	t.Helper()
	p, err := steer.OpenPort(resource.At(f.Handle, f.Owner), port)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sent by the device of a port.
func (f *forwarder) sent(t testing.TB, port string) uint64 {
	t.Helper()
	l, err := f.LinkByName(port)
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs().Statistics.TxPackets
}
