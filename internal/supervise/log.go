package supervise

import (
	"context"
	"os"
	"time"
)

const (
	// longestLog is how large a log may grow before its older part is dropped.
	longestLog = 16 << 20
	// trimEvery is the time between two looks at a log.
	trimEvery = 500 * time.Millisecond
)

// trimLog keeps a talkative program from filling the memory that /run lives in.
func (p *program) trimLog(ctx context.Context) {
	for {
		trim(p.config.LogFile(p.spec.Node), longestLog)
		select {
		case <-ctx.Done():
			return
		case <-time.After(trimEvery):
		}
	}
}

// trim cuts a file that is too long down to half of what it may be, in place: the
// program goes on writing to the same file, at its end. What it writes at this
// moment may be lost.
func trim(path string, longest int64) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() <= longest {
		return
	}
	end := make([]byte, longest/2)
	n, err := f.ReadAt(end, info.Size()-int64(len(end)))
	if err != nil || f.Truncate(0) != nil {
		return
	}
	_, _ = f.WriteAt(end[:n], 0)
}
