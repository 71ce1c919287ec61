package container

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/resource"
)

// NamesKindName of files of names in a plan.
const NamesKindName = "names"

// Names that a program or a container knows: a file of the host's that it has for its /etc/hosts. That is written in place, so that
// what runs knows others as soon as these change.
type Names struct {
	Node string `json:"node"`
	// Hosts are lines of hosts(5), each an address and a name.
	Hosts []string `json:"hosts"`
}

// Kind implements resource.Spec.
func (Names) Kind() string { return NamesKindName }

// Key is the node's name.
func (n Names) Key() string { return n.Node }

// Fingerprint is a sum of the file.
func (n Names) Fingerprint() string { return sum(n.text()) }

// Commands implements resource.Spec: the script has nfchain write it.
func (Names) Commands(string) []resource.Command { return nil }

func (n Names) text() []byte {
	lines := append([]string{"127.0.0.1 localhost", "::1 localhost"}, n.Hosts...)
	return []byte(strings.Join(lines, "\n") + "\n")
}

func sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// NamesAt is where a container sees them.
const NamesAt = "/etc/hosts"

// namesBehind is what the file of a node's names is called behind the node.
const namesBehind = ".etc-hosts"

func namesFile(owner, node string) string {
	return filepath.Join(rundir.Root, owner, node+namesBehind)
}

// NamesFile is the file of what a node's program knows; "" where there is none.
func NamesFile(owner, node string) string {
	name := namesFile(owner, node)
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	return name
}

// NamesKind writes them.
type NamesKind struct{}

// Name implements resource.Kind.
func (NamesKind) Name() string { return NamesKindName }

// Read implements resource.Kind.
func (NamesKind) Read(p resource.Place) ([]resource.Observed, error) {
	files, err := filepath.Glob(namesFile(p.Owner, "*"))
	var found []resource.Observed
	for _, name := range files {
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the names that a program knows: %w", err)
		}
		found = append(found, resource.Observed{Key: strings.TrimSuffix(filepath.Base(name), namesBehind), Fingerprint: sum(text)})
	}
	return found, err
}

// Apply implements resource.Kind.
func (NamesKind) Apply(p resource.Place, changes []resource.Change) error {
	for _, c := range changes {
		name := namesFile(p.Owner, c.Key)
		var err error
		if c.Op == resource.Delete {
			err = os.Remove(name)
		} else {
			err = writeOver(name, c.Spec.(Names).text())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("function %s: write the names that its program knows: %w", c.Key, err)
		}
	}
	return nil
}

// writeOver a file, which stays the one that it is, and is never empty meanwhile, nor has a part of a line that was there.
func writeOver(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	was, err := file.Stat()
	if err == nil {
		_, err = file.WriteAt(covering(text, was.Size()), 0)
	}
	if err == nil {
		err = file.Truncate(int64(len(text)))
	}
	return errors.Join(err, file.Close())
}

// covering is a text with empty lines behind it, as long as what it is written over.
func covering(text []byte, size int64) []byte {
	return append(slices.Clip(text), bytes.Repeat([]byte("\n"), max(0, int(size)-len(text)))...)
}
