package builtin

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/trial"
)

// TestFullSocket sends to a meter that does not get to read for a while, and whose socket
// has room for a few packets alone. What it had no room for is loss, and said to be its own.
func TestFullSocket(t *testing.T) {
	r := newRouted(t, trial.Condition{OfferedPps: 1000, DurationS: 1})
	l, e, err := loadOf(r.Job)
	must(t, err)
	l.way = wayPacket
	a, sink := packetLane(t, e, l)
	defer func() { a.close() }()
	must(t, unix.SetsockoptInt(sink.socket, unix.SOL_SOCKET, unix.SO_RCVBUF, 1))
	must(t, a.ready())
	must(t, a.begin())
	sink.mu.Lock() // it reads once, and then waits to count
	err = a.sender.run(context.Background())
	sink.mu.Unlock()
	must(t, err)
	must(t, a.wait(context.Background()))
	o, err := a.outcome()
	must(t, err)
	s, err := sample([]outcome{o})
	must(t, err)
	// The kernel says something of its own now and then, for which there was no room either.
	missing := o.Progress.Sent - o.Order.Arrivals
	if o.Order.Arrivals == 0 || missing == 0 || o.Unread < missing || o.Unread > missing+100 {
		t.Errorf("%d of %d came, and %d were not read", o.Order.Arrivals, o.Progress.Sent, o.Unread)
	}
	if want := float64(missing) / float64(o.Progress.Sent); s.Metrics["loss_ratio"] < want*(1-1e-9) || s.Metrics["loss_ratio"] > want*(1+1e-9) {
		t.Errorf("the loss is %v, and %v is missing", s.Metrics["loss_ratio"], want)
	}
	if said := strings.Join(s.Warnings, "\n"); !strings.Contains(said, fmt.Sprintf("%d packets came and were not counted, because the meter had no room", o.Unread)) {
		t.Errorf("%d were not read, and the warnings are %s", o.Unread, said)
	}
}
