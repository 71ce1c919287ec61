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
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/trial"
)

// Path is what the packets must take.
type Path struct {
	ClientNetns, ServerNetns string
	// Address and Port of the server.
	Address netip.Addr
	Port    int
	// Protocol is trial.TCP, or anything else for UDP.
	Protocol  string
	Functions []Function
}

// Function is one that must see every packet.
type Function struct {
	Name, Netns string
	// West and East are its interfaces.
	West, East string
}

// rounds of one packet there and one back.
const rounds = 8

// patience is how long the packets may take.
const patience = 5 * time.Second

// Seen is how many marked packets a function saw each way.
type Seen struct {
	Function string `json:"function"`
	Forward  int    `json:"forward_packets"`
	Reverse  int    `json:"reverse_packets"`
}

// Error says which function the traffic missed.
type Error struct {
	Protocol string
	Sent     int
	Seen     []Seen
	Reason   string
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "proof of path failed for %s: %s; of %d marked packets each way", e.Protocol, e.Reason, e.Sent)
	for _, s := range e.Seen {
		fmt.Fprintf(&b, ", %s saw %d and %d", s.Function, s.Forward, s.Reverse)
	}
	return b.String()
}

// Check sends the packets and counts them.
func Check(ctx context.Context, p Path) ([]Seen, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	nonce := make([]byte, 16)
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	taps := make([]*tap, 0, len(p.Functions))
	defer func() {
		for _, t := range taps {
			t.close()
		}
	}()
	for _, f := range p.Functions {
		t, err := open(f, nonce)
		if err != nil {
			return nil, fmt.Errorf("watch function %s: %w", f.Name, err)
		}
		taps = append(taps, t)
	}
	if err := awaitStamps(); err != nil {
		return nil, err
	}
	sent := exchange(ctx, p, nonce)
	for !complete(taps) && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	return judge(p, taps, sent)
}

func complete(taps []*tap) bool {
	for _, t := range taps {
		t.drain()
	}
	for _, t := range taps {
		if t.count(forward) < rounds || t.count(reverse) < rounds {
			return false
		}
	}
	return true
}

func judge(p Path, taps []*tap, sent error) ([]Seen, error) {
	seen := make([]Seen, 0, len(taps))
	missed := []string{}
	for _, t := range taps {
		s := Seen{t.function.Name, t.count(forward), t.count(reverse)}
		seen = append(seen, s)
		if s.Forward < rounds || s.Reverse < rounds {
			missed = append(missed, s.Function)
		}
	}
	name := map[bool]string{true: trial.TCP, false: trial.UDP}[p.Protocol == trial.TCP]
	fail := &Error{Protocol: name, Sent: rounds, Seen: seen}
	switch {
	case sent != nil:
		fail.Reason = sent.Error()
	case len(missed) > 0:
		fail.Reason = "traffic does not pass " + strings.Join(missed, ", ")
	default:
		if at := disorder(taps); at != "" {
			fail.Reason = "traffic does not visit the functions in order: " + at
			break
		}
		return seen, nil
	}
	return seen, fail
}

// disorder names the first pair of functions that some packet visited the wrong
// way round.
func disorder(taps []*tap) string {
	for i := 1; i < len(taps); i++ {
		a, b := taps[i-1], taps[i]
		for n := range rounds {
			if a.in[forward][n].After(b.in[forward][n]) || b.in[reverse][n].After(a.in[reverse][n]) {
				return a.function.Name + ", " + b.function.Name
			}
		}
	}
	return ""
}
