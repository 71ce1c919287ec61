package observe

import (
	"errors"
	"io/fs"

	"github.com/prometheus/procfs"

	root "nfchain.dev/nfchain/internal/feature/procfs"
)

// ConnectionCounts are what the kernel's connection tracking of a namespace knows, and what did not fit into it since the namespace was made. The
// machine has one bound for each namespace (net.netfilter.nf_conntrack_max).
type ConnectionCounts struct {
	// Tracked are the connections that it knows now.
	Tracked uint64 `json:"tracked"`
	// Evicted made room for others: they had no answer yet, or were over. Packets of them begin new ones.
	Evicted uint64 `json:"evicted,omitempty"`
	// Dropped are packets that would have begun another when none could make room, or one that clashed with one begun at the same time.
	Dropped uint64 `json:"dropped_packets,omitempty"`
}

// Connections reads those of the network namespace of this thread; nil where its kernel has none to tell of: it tracks none
// now, and none had to make room.
func Connections(from root.Root) (*ConnectionCounts, error) {
	proc, err := procfs.NewFS(from.Path("proc/thread-self"))
	if err != nil {
		return nil, err
	}
	cores, err := proc.ConntrackStat()
	if errors.Is(err, fs.ErrNotExist) { // there is no connection tracking, or it is not told so
		return nil, nil
	}
	var s ConnectionCounts
	for _, c := range cores {
		s.Tracked = c.Entries // that of all, told by each
		s.Evicted += c.EarlyDrop
		s.Dropped += c.Drop
	}
	if err != nil || s == (ConnectionCounts{}) {
		return nil, err
	}
	return &s, nil
}
