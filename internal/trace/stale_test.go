package trace_test

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
)

// TestLossesOfOthers: datagrams that end elsewhere, and whose payload is not behind their
// headers, are not taken for ours for what memory holds there of packets that were.
func TestLossesOfOthers(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	rounds := loses(t)
	for looked := false; !looked; { // while some were lost
		before := rounds.Load()
		for _, d := range b.trace(sending(3000)).Elsewhere {
			if d.Own.Packets > 0 {
				t.Errorf("outside the chain there is %+v", d)
			}
		}
		looked = rounds.Load() > before+1
	}
}

// loses datagrams in a namespace of its own until the test ends, in rounds that it counts: of a
// size for which the kernel keeps headers and payload apart, to a socket that nobody reads and
// that has no room for those of one round.
func loses(t *testing.T) (rounds *atomic.Int64) {
	t.Helper()
	var sink *net.UDPConn
	var conn net.Conn
	err := netns.Do(lo(t), func() (err error) {
		if sink, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err == nil {
			conn, err = net.Dial("udp", sink.LocalAddr().String())
		}
		return err
	})
	if err == nil {
		err = sink.SetReadBuffer(1 << 14)
	}
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	rounds = new(atomic.Int64)
	go func() {
		defer close(stopped)
		for text := make([]byte, 20_000); ; time.Sleep(10 * time.Millisecond) {
			for range 50 {
				_, _ = conn.Write(text)
			}
			rounds.Add(1)
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
		_, _ = conn.Close(), sink.Close()
	})
	return rounds
}

// lo is a namespace with its loopback interface up.
func lo(t *testing.T) string {
	t.Helper()
	ns := nstest.Namespace(t)
	h := nstest.Open(t, ns)
	l, err := h.LinkByName("lo")
	if err == nil {
		err = h.LinkSetUp(l)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ns
}
