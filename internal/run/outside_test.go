package run_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// TestEndsOutside are measured through every function and past them, behind one port.
func TestEndsOutside(t *testing.T) {
	nstest.Require(t, feature.Bridge, feature.Macvlan)
	for name, wiring := range map[string]string{
		"snake":    "wiring: bridge\nbridge: {per: chain}\n",
		"one arm":  "wiring: bridge\nbridge: {per: chain, arms: 1}\n",
		"pipeline": "wiring: bridge\nbridge: {per: ends}\n",
		"learning": "wiring: bridge\nbridge: {per: chain, forwarding: learning}\n",
		"card":     "wiring: macvlan\n",
		"switch":   "wiring: ovs\novs: {per: chain}\n",
		"internal": "wiring: ovs\novs: {per: chain, ports: internal, forwarding: learning}\n",
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(wiring, "macvlan") {
				nstest.Require(t, feature.Redirect)
			}
			if strings.Contains(wiring, "ovs") {
				nstest.Require(t, feature.ToolOVS, feature.Tun)
			}
			b := newBed(t, "outside: true\n"+wiring+"functions: [{name: a, kind: forward}, {name: b, kind: forward}]\n")
			m, r := b.measurement(load(1, trial.TCP), tool{answered})
			if err := m.Run(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			b.gone()
			b.complete()
			s := r.Setups[0]
			if len(s.Unread) > 0 {
				t.Errorf("unread: %v", s.Unread)
			}
			if len(r.Trials) != 2 {
				t.Fatalf("%d trials, want one through the functions and one past them", len(r.Trials))
			}
			for _, got := range r.Trials {
				if got.Metrics["goodput_bps"] != 1 {
					t.Errorf("%s: %+v", r.Conditions[got.Condition].Path, got)
				}
			}
		})
	}
}

// complete makes the chain twice: the second time there is nothing to do.
func (b *bed) complete() {
	b.Helper()
	b.up(run.UpOptions{})
	_, changes, err := b.edit(b.Context(), run.UpOptions{})
	if err != nil || len(changes) > 0 {
		b.Errorf("made again it lacks %+v, error %v", changes, err)
	}
}

// answered is a tool that sends a packet to the server and has it sent back. Another test that
// floods this machine may make it drop one; then the next is sent.
func answered(ctx context.Context, job traffic.Job) (s traffic.Sample, err error) {
	var server, client *net.UDPConn
	err = netns.Do(job.ServerNetns, func() (err error) {
		server, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(job.Listen(), 0)))
		return err
	})
	if err != nil {
		return s, err
	}
	defer func() { _ = server.Close() }()
	err = netns.Do(job.ClientNetns, func() (err error) {
		client, err = net.DialUDP("udp", nil, server.LocalAddr().(*net.UDPAddr))
		return err
	})
	if err != nil {
		return s, err
	}
	defer func() { _ = client.Close() }()
	for range 30 {
		if err = thereAndBack(client, server); !errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
	}
	if err != nil {
		return s, err
	}
	return sampled(ctx, job)
}

// thereAndBack sends one packet each way.
func thereAndBack(client, server *net.UDPConn) error {
	buffer, late := make([]byte, 8), time.Now().Add(2*time.Second)
	if err := errors.Join(server.SetReadDeadline(late), client.SetReadDeadline(late)); err != nil {
		return err
	}
	if _, err := client.Write([]byte("there")); err != nil {
		return err
	}
	_, from, err := server.ReadFromUDPAddrPort(buffer)
	if err != nil {
		return err
	}
	if _, err := server.WriteToUDPAddrPort([]byte("back"), from); err != nil {
		return err
	}
	_, err = client.Read(buffer)
	return err
}
