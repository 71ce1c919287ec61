package run_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// fewDatagrams is how many a test sends, one after the other.
const fewDatagrams = 7

// errLost is of a datagram that did not come.
var errLost = errors.New("a datagram was lost")

// datagrams of a size go from one end to the other, each when the one before has come.
func datagrams(size int) tool {
	return tool{func(_ context.Context, job traffic.Job) (traffic.Sample, error) {
		sample := traffic.Sample{Metrics: map[string]float64{"goodput_bps": 1}}
		var to net.PacketConn
		err := netns.Do(job.ServerNetns, func() (err error) {
			to, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(job.Address, 5201)))
			return err
		})
		if err != nil {
			return sample, err
		}
		defer func() { _ = to.Close() }()
		var from net.Conn
		err = netns.Do(job.ClientNetns, func() (err error) {
			from, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(job.Address, 5201)))
			return err
		})
		if err != nil {
			return sample, err
		}
		defer func() { _ = from.Close() }()
		buffer := make([]byte, size)
		for range fewDatagrams {
			if _, err := from.Write(buffer); err != nil {
				return sample, err
			}
			if err := to.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
				return sample, err
			}
			if _, _, err := to.ReadFrom(buffer); errors.Is(err, os.ErrDeadlineExceeded) {
				return sample, errLost
			} else if err != nil {
				return sample, err
			}
		}
		return sample, nil
	}}
}

// TestFragmentsAreCounted: what the ends' kernels cut up and put together is among the
// metrics of datagrams, and nowhere else.
func TestFragmentsAreCounted(t *testing.T) {
	for range 10 {
		b := newBed(t, "functions: [{name: f, kind: forward}]")
		l := load(1, trial.UDP, trial.TCP)
		direct := false
		l.Direct = &direct
		// 32,739 bytes and UDP's 8, in fragments of 1,480 (an MTU of 1500 less IPv4's 20).
		m, r := b.measurement(l, datagrams(32739))
		err := m.Run(context.Background(), r)
		if errors.Is(err, errLost) {
			continue // another test floods this machine
		}
		if err != nil {
			t.Fatal(err)
		}
		counted(t, b.stored(r.ID))
		return
	}
	t.Fatal("this machine lost a fragment each time")
}

// counted fails the test unless the run has what a few datagrams of 23 fragments each come to.
func counted(t *testing.T, r trial.Run) {
	t.Helper()
	want := map[string]float64{"fragments_created": 23 * fewDatagrams, "datagrams_reassembled": fewDatagrams, "reassemblies_failed": 0, "fragments_per_datagram": 23}
	if len(r.Trials) != 2 {
		t.Errorf("%d trials, want one of each protocol", len(r.Trials))
	}
	for _, trialOf := range r.Trials {
		udp := r.Conditions[trialOf.Condition].Protocol == trial.UDP
		for name, n := range want {
			if got, has := trialOf.Metrics[name]; has != udp || udp && got != n {
				t.Errorf("%s: %s is %v (%t), want %v", r.Conditions[trialOf.Condition].Protocol, name, got, has, n)
			}
		}
		f := trialOf.Observed.Fragments
		if len(f) != 2 || f[0].Node != "client" || f[0].Fragmented != fewDatagrams || f[1].Received != 23*fewDatagrams {
			t.Errorf("observed %+v", f)
		}
	}
}
