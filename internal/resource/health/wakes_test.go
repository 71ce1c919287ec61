package health_test

import (
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"

	bpf "nfchain.dev/nfchain/bpf/probe"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestOthersWake: where functions are at rest, the first frame that is no probe wakes who watches, once; a probe does not.
func TestOthersWake(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFIngress)
	o := loaded(t, 1)
	const loopback, goesOn = 1, ^uint32(0)
	if err := o.Seen.Put(uint32(0), bpf.ProgramSeen{Port: loopback}); err != nil {
		t.Fatal(err)
	}
	woken, err := ringbuf.NewReader(o.Woken)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = woken.Close() }()
	woken.SetDeadline(time.Unix(1, 0)) // it is there, or is not
	other := append(append(make([]byte, 12), 0x88, 0xb5), make([]byte, 50)...)
	for i, c := range []struct {
		frame       []byte
		rests       bool // from then on
		ends, wakes bool
	}{
		{other, false, false, false}, {probe(inIPv4, signature, 1, 0, 0), true, false, false}, {probe(inIPv6, signature, 2, 0, 0), true, false, false},
		{probe(aboutIPv4, signature, 3, 0, 0), true, false, false}, {probe(inIPv4, signature, 1, 0, 0), true, false, false},
		{other, true, true, true}, {other, false, true, false}, {other, false, true, false},
		{probe(inIPv4, signature+1, 4, 0, 0), true, true, true}, {probe(inIPv4+1, signature, 4, 0, 0), true, true, true}, {other, false, true, false},
	} {
		if c.rests {
			if err := o.AtRest.Set(uint32(1)); err != nil {
				t.Fatal(err)
			}
		}
		verdict, err := o.Probe.Run(&ebpf.RunOptions{Data: c.frame, DataOut: make([]byte, len(c.frame)+64)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = woken.Read()
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		var rests uint32
		if err := o.AtRest.Get(&rests); err != nil {
			t.Fatal(err)
		}
		if (err == nil) != c.wakes || c.rests && (rests == 0) != c.ends || c.ends && verdict != goesOn {
			t.Errorf("%d.: verdict %d, at rest %d, %v; want %+v", i, int32(verdict), rests, err, c)
		}
	}
}

// TestWakes who waits, by the first packet at a port after it was told that functions are at rest, also where the port has got another
// program of the table's meanwhile; waiting ends with the table.
func TestWakes(t *testing.T) { onHooks(t, wakes) }

func wakes(t *testing.T, p *ports) {
	defer p.take(t, nil).Close()
	var times atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for p.table.Wait() {
			times.Add(1)
		}
	}()
	for round := range int64(3) {
		p.table.Rest()
		for deadline := time.Now().Add(time.Minute); times.Load() == round; time.Sleep(time.Millisecond) {
			if p.send(t, inIPv4+1, signature, 0, 0); time.Now().After(deadline) {
				t.Fatalf("round %d: nobody is woken", round)
			}
		}
		for range 100 {
			p.send(t, inIPv4+1, signature, 0, 0)
		}
		again, err := p.table.Take(p.place(), "port0", []int{p.row}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
	}
	p.sees(t, inIPv4, 1)
	if n := times.Load(); n != 3 {
		t.Errorf("woken %d times, told 3 times that functions are at rest", n)
	}
	p.table.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("waiting does not end with the table")
	}
}
