package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/cni"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/lookup"
	"nfchain.dev/nfchain/internal/resource/machine"
	"nfchain.dev/nfchain/internal/resource/macvlan"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/ovs"
	"nfchain.dev/nfchain/internal/resource/process"
)

// Down removes everything a chain is made of, found by its owner's mark alone,
// and returns how many namespaces that were. Nothing there is success.
func (d *Deployer) Down(ctx context.Context, owner string) (int, error) {
	had, err := d.dismantle(ctx, owner)
	if err != nil {
		return 0, err
	}
	if err := forget(owner); err != nil {
		return 0, err
	}
	rundir.Sweep()
	_ = os.Remove(stateRoot)
	netns.Tidy()
	return had, nil
}

// dismantle a chain, and give how many namespaces it had. What it has set of the machine is put back once nothing of it runs, and is undone last.
func (d *Deployer) dismantle(ctx context.Context, owner string) (had int, err error) {
	names, err := namespacesOf(owner)
	if err != nil {
		return 0, err
	}
	if err := removeAllSwitches(owner, names); err != nil {
		return 0, err
	}
	elsewhere := make(chan error, 1)
	go func() { elsewhere <- removeElsewhere(ctx, owner, names) }()
	vacated := vacate(owner, names)
	if vacated == nil {
		defer func() { err = errors.Join(err, machine.Restore(owner)) }()
	}
	if err := errors.Join(vacated, <-elsewhere, cni.DetachAll(owner), removeContainers(ctx, owner)); err != nil {
		return 0, err
	}
	if macvlan.OverHost(owner) {
		if err := removeDevices(ctx, owner, names); err != nil {
			return 0, err
		}
	}
	if err := unseatAll(owner); err != nil {
		return 0, err
	}
	for _, name := range names { // unmounting at once takes no less time
		if err := netns.Remove(name); err != nil {
			return 0, err
		}
	}
	return len(names), nil
}

// removeSwitches removes the chain's Open vSwitch, if it has one, and with it the ports
// that it has in namespaces of others.
func removeSwitches(owner string, names []string) error {
	own := namespace.Name(owner, plan.WiringNode)
	if !slices.Contains(names, own) || !netns.Exists(own) {
		return nil
	}
	return ovs.Remove(owner, own)
}

// removeAllSwitches does so wherever they are.
func removeAllSwitches(owner string, names []string) error {
	if err := removeSwitches(owner, names); err != nil {
		return err
	}
	return ovs.RemoveStrays(owner)
}

// removeDevices removes the owner's interfaces of its own namespaces one by one.
func removeDevices(ctx context.Context, owner string, names []string) error {
	return each(ctx, names, func(name string) error {
		if !netns.Exists(name) {
			return nil // half-made
		}
		return inside(name, func(h *netns.Handle) error { return link.RemoveAll(h, owner) })
	})
}

// vacate ends what runs in the owner's namespaces and gives back the interfaces
// that are not its own.
func vacate(owner string, names []string) error {
	if err := process.Stop(owner); err != nil {
		return err
	}
	if err := endProcesses(names); err != nil {
		return err
	}
	return adopted.Restore(owner, "")
}

// namespacesOf lists the owner's namespaces: a chain's nodes, or the one of a
// standalone function.
func namespacesOf(owner string) ([]string, error) {
	all, err := netns.List()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		if namespace.Owns(owner, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// dissolve ends what runs in a namespace, takes its interfaces away with their
// peers and then its name.
func dissolve(name, owner string) error {
	if err := empty(name, owner); err != nil {
		return err
	}
	return strip(name, owner)
}

// empty a namespace of what runs in it, and give back the interfaces that are not the owner's.
func empty(name, owner string) error {
	if err := removeSwitches(owner, []string{name}); err != nil {
		return err
	}
	if err := endProcesses([]string{name}); err != nil {
		return err
	}
	return errors.Join(adopted.Restore(owner, name), cni.Detach(owner, name))
}

// strip an empty namespace of the owner's interfaces and of its name.
func strip(name, owner string) error {
	if netns.Exists(name) {
		h, err := netns.Open(name)
		if err != nil {
			return err
		}
		defer h.Close()
		if err := link.RemoveAll(h, owner); err != nil {
			return err
		}
	}
	return netns.Remove(name)
}

// endProcesses kills every process that lives in the namespaces and waits until
// they are gone: a namespace lives as long as a process in it.
func endProcesses(names []string) error {
	for _, name := range names {
		if netns.Identity(name) == netns.Identity(netns.Host) {
			return fmt.Errorf("namespace %s is the host's own, in which nothing is ended; take its name away: umount %s", name, netns.Path(name))
		}
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		found, err := netns.Processes(names)
		if err != nil || len(found) == 0 {
			return err
		}
		for name, pids := range found {
			for _, pid := range pids {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
					return fmt.Errorf("end process %d in namespace %s: %w", pid, name, err)
				}
				engine.Resume(pid) // which may be paused, and not know that it is killed
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v do not end; they may hang in the kernel: look at /proc/PID/stack, then run `nfchain down` again", found)
		}
	}
}

// removeElsewhere removes the chain's interfaces from namespaces that are not its
// own: those of existing endpoints and of standalone functions. Nodes of other chains are neither.
func removeElsewhere(ctx context.Context, owner string, own []string) error {
	mine := map[string]bool{}
	for _, name := range own {
		mine[name] = true
	}
	all, err := netns.List()
	if err != nil {
		return err
	}
	others := []string{netns.Host}
	for _, name := range all {
		if _, _, node := namespace.Split(name); !node && !mine[name] && netns.Exists(name) {
			others = append(others, name)
		}
	}
	sort.Strings(others)
	return each(ctx, others, func(name string) error {
		return inside(name, func(h *netns.Handle) error { return removeGuest(h, name, owner) })
	})
}

// removeGuest removes what an owner has in a namespace of others. Only standalone
// functions have look-ups.
func removeGuest(h *netns.Handle, name, owner string) error {
	if _, _, node := namespace.Split(name); !node && strings.HasPrefix(name, namespace.Prefix) {
		if err := lookup.RemoveAll(h, owner); err != nil {
			return err
		}
	}
	return link.RemoveAll(h, owner)
}

// inside does something in a namespace, unless that has gone meanwhile or never was whole.
func inside(name string, do func(*netns.Handle) error) error {
	h, err := netns.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer h.Close()
	return do(h)
}
