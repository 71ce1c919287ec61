package traffic

import (
	"bytes"
	"sync"
)

// mostOutput is what a tool may print; one that prints more is broken.
const mostOutput = 64 << 20

// output keeps what a program prints, up to mostOutput; then it calls full.
type output struct {
	full func()

	mu   sync.Mutex
	text bytes.Buffer
	over bool
}

// Write implements io.Writer. It always takes everything, so that the program is
// not stopped by a broken pipe, which a tool may report as something else.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := mostOutput - o.text.Len(); len(b) <= room {
		return o.text.Write(b)
	}
	if !o.over {
		o.over = true
		o.full()
	}
	return len(b), nil
}

// bytes is what was printed so far; what follows is not written over it.
func (o *output) bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Bytes()
}

func (o *output) overflown() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.over
}
