package impair

import (
	"context"
	"errors"
	"os"
	"runtime"
	"runtime/debug"

	"nfchain.dev/nfchain/internal/resource/tun"
)

// Run impairs what comes by the devices, in the namespace of this process, until the
// context ends. What it counts is in the file at path.
func Run(ctx context.Context, c Config, path string) error {
	// A thread for each direction keeps a processor to itself, and there is no garbage
	// to stop them for.
	runtime.GOMAXPROCS(max(4, runtime.NumCPU()))
	debug.SetGCPercent(-1)
	record, done, err := openRecord(path)
	if err != nil {
		return err
	}
	defer done()
	woken, wake, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _, _ = woken.Close(), wake.Close() }()
	ports, err := openAll(c, record, int(woken.Fd()))
	defer func() {
		for _, p := range ports {
			p.close()
		}
	}()
	if err != nil {
		return err
	}
	return runAll(ctx, ports, wake)
}

func openAll(c Config, record *file, woken int) ([]*port, error) {
	var ports []*port
	for _, w := range c.Ways {
		i := w.index()
		p, err := openPort(w.Device, newLine(c, i, &record.Ways[i]), woken)
		if err != nil {
			return ports, err
		}
		ports = append(ports, p)
	}
	return ports, nil
}

// runAll runs every direction on a thread of its own. All end with the first.
func runAll(ctx context.Context, ports []*port, wake *os.File) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error)
	for _, p := range ports {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ended <- p.run()
		}()
	}
	stop := context.AfterFunc(ctx, func() {
		for _, p := range ports {
			p.stopped.Store(true)
		}
		_, _ = wake.Write([]byte{0})
	})
	defer stop()
	var failed error
	for range ports {
		failed = errors.Join(failed, <-ended)
		cancel()
	}
	return failed
}

// Ready tells whether a program with this config has taken the devices of this
// namespace and gets packets.
func Ready(c Config) error {
	for _, w := range c.Ways {
		if err := tun.Attached(w.Device); err != nil {
			return err
		}
	}
	return nil
}
