// Package impair is the program of an impair function: it takes packets out of tun
// devices, drops, doubles, reorders and delays some of them on purpose, puts them
// back, and keeps a record of what it did and how far that was from what it should
// have done. What it does to which packet is decided without a clock, so that it is
// the same every time.
package impair

import (
	"encoding/json"
	"fmt"
)

// Command is the hidden command that is the program.
const Command = "impair-program"

// Config is what the program does to the packets of each direction.
type Config struct {
	// Ways are the directions that it acts on.
	Ways      []Way `json:"ways"`
	Loss      Pick  `json:"loss"`
	Duplicate Pick  `json:"duplicate"`
	Reorder   Pick  `json:"reorder"`
	// By is behind how many later packets one that is picked for reordering is put.
	By int `json:"by,omitempty"`
	// DelayNS of every packet, and how much less or more it may be, evenly spread.
	DelayNS  int64 `json:"delay_ns,omitempty"`
	JitterNS int64 `json:"jitter_ns,omitempty"`
	// Limit is how many packets of a direction are held at once; more are dropped.
	Limit int `json:"limit"`
	// Seed of everything random.
	Seed uint64 `json:"seed"`
}

// Way is one direction.
type Way struct {
	// Name is "forward" or "reverse".
	Name string `json:"name"`
	// Device is the tun device that its packets come by.
	Device string `json:"device"`
}

// Forward is what comes in from the west, Reverse from the east. A record has them in
// this order.
var (
	Forward = Way{"forward", "impair0"}
	Reverse = Way{"reverse", "impair1"}
)

// Pick says which packets are meant: every so many, or each with a probability;
// zero is none.
type Pick struct {
	Every uint64  `json:"every,omitempty"`
	Ratio float64 `json:"ratio,omitempty"`
}

// Encode writes the config as an argument of the program.
func (c Config) Encode() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // a Config is plain data
	}
	return string(text)
}

// Decode is the reverse of Encode.
func Decode(text string) (Config, error) {
	var c Config
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return c, fmt.Errorf("not what impair is to do: %w", err)
	}
	for _, w := range c.Ways {
		if w.index() < 0 {
			return c, fmt.Errorf("not what impair is to do: %q is no direction", w.Name)
		}
	}
	return c, nil
}

// index of a direction in a record; -1 for none.
func (w Way) index() int {
	switch w.Name {
	case Forward.Name:
		return 0
	case Reverse.Name:
		return 1
	}
	return -1
}
