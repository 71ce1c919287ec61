package trace_test

import (
	"net"
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
	loses(t)
	for _, d := range b.trace(sending(3000)).Elsewhere {
		if d.Own.Packets > 0 {
			t.Errorf("outside the chain there is %+v", d)
		}
	}
}

// loses datagrams in a namespace of its own until the test ends: of a size for which the kernel
// keeps headers and payload apart, to a socket that nobody reads.
func loses(t *testing.T) {
	t.Helper()
	var sink net.PacketConn
	var conn net.Conn
	err := netns.Do(lo(t), func() (err error) {
		if sink, err = net.ListenPacket("udp", "127.0.0.1:0"); err == nil {
			conn, err = net.Dial("udp", sink.LocalAddr().String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for text := make([]byte, 20_000); ; time.Sleep(10 * time.Millisecond) {
			for range 50 {
				_, _ = conn.Write(text)
			}
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
