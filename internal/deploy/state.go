package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// stateRoot holds a directory for each chain. Nothing in it is needed to find or
// remove a chain; it remembers the file a chain was made from, and keeps logs.
const stateRoot = rundir.Root

// StateDir is the chain's directory.
func StateDir(owner string) string { return rundir.Of(owner) }

// LogFile is where a function's program writes.
func LogFile(owner, node string) string { return rundir.Log(owner, node) }

// RecordFile is where a function's program counts what it does.
func RecordFile(owner, node string) string { return filepath.Join(StateDir(owner), node+".record") }

// sourceFile keeps the file a chain was made from.
func sourceFile(owner string) string { return filepath.Join(StateDir(owner), "source") }

// kept is the mode of what a chain was made from, which may have secrets in it.
const kept = 0o600

// Remember keeps the text a chain was made from, whole or not at all.
func Remember(owner string, text []byte) error {
	if err := rundir.Keep(sourceFile(owner), text, kept); err != nil {
		return fmt.Errorf("keep the chain's file: %w", err)
	}
	return nil
}

// forget all that is noted of an owner, what it was made from last: by that who comes after one that was killed meanwhile knows whose the rest is.
func forget(owner string) error {
	entries, err := os.ReadDir(StateDir(owner))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if path := filepath.Join(StateDir(owner), e.Name()); path != sourceFile(owner) {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return os.RemoveAll(StateDir(owner))
}

// Remembering is the command that does what Remember does.
func Remembering(owner string, text []byte) resource.Command {
	return resource.Command{Args: []string{"install", "-D", "-m", "600", "/dev/stdin", sourceFile(owner)}, Stdin: string(text) + "\n"}
}

// settledFile keeps what a chain was made from when all of it was last there.
func settledFile(owner string) string { return filepath.Join(StateDir(owner), "settled") }

// Settle keeps the text that a chain was made from of which all is there: by that is brought back what it loses, though an edit fails
// later. Without a text there is nothing to bring back.
func Settle(owner string, text []byte) error {
	if text == nil {
		err := os.Remove(settledFile(owner))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if err := rundir.Keep(settledFile(owner), text, kept); err != nil {
		return fmt.Errorf("keep the chain's file: %w", err)
	}
	return nil
}

// RecallSettled gives back what Settle kept, or else what Remember did.
func RecallSettled(owner string) ([]byte, error) {
	text, err := os.ReadFile(settledFile(owner))
	if errors.Is(err, fs.ErrNotExist) {
		return Recall(owner)
	}
	return text, err
}

// Recall gives back what Remember kept; fs.ErrNotExist when there is nothing.
func Recall(owner string) ([]byte, error) { return os.ReadFile(sourceFile(owner)) }

// Owners lists every chain and standalone function of which anything is there.
func Owners() ([]string, error) {
	names, err := netns.List()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, name := range names {
		owner, _, ok := namespace.Split(name)
		if ok {
			seen[owner] = true
			continue
		}
		if of, _, brought := namespace.SplitBrought(name); brought {
			seen[of] = true
		}
		if alone, ours := strings.CutPrefix(name, namespace.Prefix); ours {
			seen[alone] = true
		}
		there, err := guests(name)
		if err != nil {
			return nil, err
		}
		for _, guest := range there {
			seen[guest] = true
		}
	}
	entries, err := os.ReadDir(stateRoot)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(rundir.Locks) {
			seen[e.Name()] = true
		}
	}
	contained, err := container.Find(context.Background(), "")
	if err != nil {
		return nil, err
	}
	for _, c := range contained {
		seen[c.Owner] = true
	}
	owners := make([]string, 0, len(seen))
	for owner := range seen {
		owners = append(owners, owner)
	}
	sort.Strings(owners)
	return owners, nil
}

// guests are the chains that have interfaces in a namespace of others.
func guests(name string) (owners []string, err error) {
	err = inside(name, func(h *netns.Handle) error {
		owners, err = link.Owners(h)
		return err
	})
	return owners, err
}

// Guests are the chains that go through a standalone function that is up.
func Guests(function string) ([]string, error) { return guests(namespace.Alone(function)) }

// Nodes lists the owner's namespaces that are there.
func Nodes(owner string) ([]string, error) { return namespacesOf(owner) }
