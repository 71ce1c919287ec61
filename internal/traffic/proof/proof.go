// Package proof shows that traffic takes a chain: marked packets are sent both
// ways between the ends and counted at every function, in order, by packet
// sockets opened in the functions' namespaces. Nothing stays behind: a socket goes
// with its process.
package proof

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// Path is what the packets must take.
type Path struct {
	ClientNetns, ServerNetns string
	// To is where the client sends, and At where the server listens: on the way a
	// function may translate the one to the other.
	To, At netip.AddrPort
	// Source is what packets must come from at the server; the zero address is any.
	Source netip.Addr
	// Kept tells that packets must come from the port that they left the client by: where they do not, a program passes them on, and no
	// kernel.
	Kept bool
	// Protocol is trial.TCP, or anything else for UDP.
	Protocol  string
	Functions []Function
	// Ways that packets may take from function to function; nil where all pass each of them.
	Ways *Ways
	// Delay that the functions add on purpose, there and back.
	Delay time.Duration
}

// Function is one that must see every packet.
type Function struct {
	Name, Netns string
	// West and East are its interfaces.
	West, East string
	// Transparent functions pass on packets that are not for them.
	Transparent bool
	// Hands tells that programs hand packets on from one interface to the other, so that none
	// is seen to leave: the next function, or the end, shows that they did.
	Hands bool
	// Others are replicas of it: one of them all must see a packet.
	Others []Function
	// Aside tells that ways lead past it.
	Aside bool
	// OneWay tells that packets go past it on their way back: it must see none of them.
	OneWay bool
}

// back is how many packets it must see on their way back.
func (f Function) back() int {
	if f.OneWay {
		return 0
	}
	return rounds
}

// patience is how long a packet may take, sent again where it is lost; a chain may
// be long and its queues full.
func (p Path) patience() time.Duration {
	return 5*time.Second + time.Duration(len(p.Functions))*20*time.Millisecond + p.Delay
}

// late is how long after the packets themselves the taps may show them.
const late = 500 * time.Millisecond

// Seen is how many marked packets a function saw each way.
type Seen struct {
	Function string `json:"function"`
	Forward  int    `json:"forward_packets"`
	Reverse  int    `json:"reverse_packets"`
}

// Check sends the packets and counts them. What it returns besides is of type
// *[Error] when the path is not proven.
func Check(ctx context.Context, p Path) ([]Seen, error) {
	nonce := make([]byte, nonceSize)
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	taps, err := openAll(p, nonce)
	defer closeAll(taps)
	if err != nil {
		return nil, err
	}
	if err := awaitStamps(); err != nil {
		return nil, err
	}
	sent := exchange(ctx, p, nonce)
	// What arrived has passed every tap on its way.
	for end := time.Now().Add(late); !p.complete(taps) && sent == nil && ctx.Err() == nil && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return judge(p, taps, sent)
}

func openAll(p Path, nonce []byte) ([]*tap, error) {
	taps := make([]*tap, 0, len(p.Functions))
	for _, f := range p.Functions {
		t, err := open(p, f, nonce)
		if err != nil {
			return taps, fmt.Errorf("watch function %s: %w", f.Name, err)
		}
		taps = append(taps, t)
		for _, other := range f.Others {
			o, err := open(p, other, nonce)
			if err != nil {
				return taps, fmt.Errorf("watch function %s: %w", other.Name, err)
			}
			o.in, o.out = t.in, t.out
			t.others = append(t.others, o)
		}
	}
	return taps, nil
}

// closeAll closes the taps at once: the kernel waits for every CPU to be done with
// a packet socket.
func closeAll(taps []*tap) {
	var all sync.WaitGroup
	for _, t := range taps {
		all.Add(1)
		go func() {
			defer all.Done()
			t.close()
		}()
	}
	all.Wait()
}

// complete reads what the taps saw and tells whether that is everything.
func (p Path) complete(taps []*tap) bool {
	all := true
	for _, t := range taps {
		t.drain()
	}
	if p.Ways != nil {
		return p.Ways.complete(taps)
	}
	for _, t := range taps {
		all = all && t.count(forward) == rounds && t.count(reverse) >= t.function.back()
	}
	return all
}
