package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/process"
)

// open what is at the ports now: interfaces may have gone and come again, and another version of
// nfchain may have put its programs there.
func (w *Watcher) open(now time.Time) {
	w.opened = now
	w.stir()
	h, err := netns.Open(w.path.Forwarder)
	if w.unsure = err != nil; errors.Is(err, fs.ErrNotExist) {
		w.unsure = false
		w.lose()
	}
	if err != nil {
		return
	}
	defer h.Close()
	if w.socket < 0 || w.elsewhere(h) {
		w.close()
		w.doubtAll(w.connect(h))
	}
	if w.table == nil {
		if w.table, err = health.NewTable(w.rows, w.signature); err != nil {
			w.doubtAll(err)
			w.ponder(now)
			return
		}
		go w.heed()
	}
	at := resource.At(h, w.config.Owner)
	for _, p := range w.changed(at) {
		w.doubt(p, p.open(at, w.table))
	}
	w.lead()
	if !w.begun {
		w.begun = true
		w.inherit(now)
		w.disown(at)
	}
	w.turn()
	w.ponder(now)
}

// changed are the ports that are not as they were opened, or may not be.
func (w *Watcher) changed(at resource.Place) (ports []*port) {
	as := map[*port]bool{}
	_ = at.Do(func() error { // where it cannot be entered, opening them says so
		for _, p := range w.ports {
			as[p] = p.isAsOpened(at)
		}
		return nil
	})
	for _, p := range w.ports {
		if !as[p] {
			ports = append(ports, p)
		}
	}
	return ports
}

// connect the socket that probes are sent by, over any port.
func (w *Watcher) connect(h *netns.Handle) error {
	err := h.Do(func() (err error) {
		if err := unix.Stat("/proc/thread-self/ns/net", &w.within); err != nil {
			return err
		}
		w.socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		return err
	})
	if err != nil {
		w.socket = -1
		return fmt.Errorf("open a socket for probes: %w", err)
	}
	return nil
}

// elsewhere tells that the socket is in another namespace: that one was removed, and made again.
// Nobody else gets its number while the socket is open.
func (w *Watcher) elsewhere(h *netns.Handle) bool {
	var at unix.Stat_t
	err := unix.Fstat(h.FD(), &at)
	return err == nil && (at.Dev != w.within.Dev || at.Ino != w.within.Ino)
}

// inherit what another supervisor has turned: those functions have failed, until they prove well.
func (w *Watcher) inherit(now time.Time) {
	for _, n := range w.nodes {
		if w.wasTurned(n) {
			n.fail(now, "had failed before this supervisor began")
			n.due = now
		}
	}
}

// wasTurned tells whether a port that a function is next to has its packets go elsewhere.
func (w *Watcher) wasTurned(n *node) bool {
	if w.parts() {
		return slices.ContainsFunc(w.facing(n.number), func(name string) bool {
			p := w.ports[name]
			return p.fails(n.spec.Label) || n.spec.Of != "" && p.keeps(n.spec.Of, n.spec.Number)
		})
	}
	for _, line := range w.lines() {
		nodes := along(w.path, line)
		all := seats(nodes)
		for at, seat := range all {
			if !slices.ContainsFunc(seat, func(i int) bool { return line.Nodes[i] == n.number }) {
				continue
			}
			var facing []*port
			for _, i := range all[at-1] {
				facing = append(facing, w.ports[w.path.Nodes[line.Nodes[i]].East])
			}
			for from := at + 1; from < len(all) && visited(nodes, all, from, -1) == at; from++ {
				for _, i := range all[from] {
					facing = append(facing, w.ports[w.path.Nodes[line.Nodes[i]].West])
				}
			}
			if slices.ContainsFunc(facing, func(p *port) bool { return p.isTurned(line) || n.spec.Of != "" && p.keeps(n.spec.Of, n.spec.Number) }) {
				return true
			}
		}
	}
	return false
}

// isTurned tells whether packets of a path that come in go elsewhere than planned.
func (p *port) isTurned(path process.ServicePath) bool {
	if p == nil || p.steer == nil {
		return false
	}
	to, err := p.insteadOn(path)
	return err == nil && to != 0
}

// keeps packets from a replica of a function that the port faces.
func (p *port) keeps(of string, replica int) bool {
	if p == nil || p.steer == nil {
		return false
	}
	if _, faces := p.steer.Shared(of); !faces {
		return false
	}
	failing, err := p.steer.Failing(of)
	return err == nil && failing.Has(replica)
}

// lose all ports, which went with their namespace.
func (w *Watcher) lose() {
	w.close()
	for _, p := range w.ports {
		p.lose()
	}
}

// close all that is held open.
func (w *Watcher) close() {
	for _, p := range w.ports {
		p.close()
	}
	if w.socket >= 0 {
		_ = unix.Close(w.socket)
	}
	w.socket = -1
}
