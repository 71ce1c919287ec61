package capture

import (
	"fmt"
	"io"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// Report is what was captured.
type Report struct {
	SchemaVersion int     `json:"schema_version"`
	Chain         string  `json:"chain"`
	Wiring        string  `json:"wiring"`
	DurationS     float64 `json:"duration_s"`
	// Amount that was written.
	Amount
	// Dropped fit the filter and are not in the file, because they came faster than it was
	// written.
	Dropped uint64 `json:"dropped_packets"`
	// Late stand in the file behind packets of a later time.
	Late       uint64                `json:"late_packets"`
	Interfaces trial.List[Interface] `json:"interfaces"`
	Warnings   trial.List[string]    `json:"warnings"`
}

// Amount of packets, bytes being as long as they were.
type Amount struct {
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
}

// Interface is one of the file's: a hop's interface, one way.
type Interface struct {
	Name string `json:"name"`
	Hop  string `json:"hop"`
	// Direction is in or out of the hop, Way forward or reverse along the chain; empty where
	// both pass.
	Direction string `json:"direction"`
	Way       string `json:"way"`
	Amount
	Dropped uint64 `json:"dropped_packets"`
}

func (s *session) report(took time.Duration) Report {
	rep := Report{SchemaVersion: trial.SchemaVersion, Chain: s.chain.Name, Wiring: s.chain.Wiring, DurationS: took.Seconds(), Late: s.queue.late}
	for _, r := range s.rings {
		i := Interface{Name: r.Name(), Hop: r.Hop, Direction: r.direction(), Way: r.Way, Amount: r.written, Dropped: r.dropped}
		if !s.enough && r.kept() > r.read {
			i.Dropped += r.kept() - r.read
		}
		rep.Packets += i.Packets
		rep.Bytes += i.Bytes
		rep.Dropped += i.Dropped
		rep.Interfaces = append(rep.Interfaces, i)
		if r.gone {
			rep.Warnings = append(rep.Warnings, fmt.Sprintf("interface %s of %s was removed meanwhile; what came there instead is not captured", r.Device, r.Hop))
		}
	}
	if rep.Dropped > 0 {
		rep.Warnings = append(rep.Warnings, fmt.Sprintf("%d packets are missing: they came faster than they were written; a --filter, one hop, a small --snaplen or a larger --buffer helps", rep.Dropped))
	}
	if rep.Late > 0 {
		rep.Warnings = append(rep.Warnings, fmt.Sprintf("%d packets stand behind later ones: the machine was too busy to hand them over in time", rep.Late))
	}
	return rep
}

// Text writes the report for a terminal: a line for each interface at which there was
// anything.
func (r Report) Text(w io.Writer) error {
	var b strings.Builder
	t := words.NewTable()
	t.Row("INTERFACE", "WAY", "PACKETS", "BYTES", "DROPPED")
	quiet := 0
	for _, i := range r.Interfaces {
		if i.Packets+i.Dropped == 0 {
			quiet++
			continue
		}
		t.Row(i.Name, i.Way, fmt.Sprint(i.Packets), fmt.Sprint(i.Bytes), fmt.Sprint(i.Dropped))
	}
	if quiet < len(r.Interfaces) {
		b.WriteString(t.String() + "\n")
	}
	fmt.Fprintf(&b, "chain %s: %s, %s in %.3g s at %d of %s\n", r.Chain, words.Plural(int(r.Packets), "packet"), words.Plural(int(r.Bytes), "byte"), r.DurationS,
		len(r.Interfaces)-quiet, words.Plural(len(r.Interfaces), "place"))
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "- %s\n", warning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
