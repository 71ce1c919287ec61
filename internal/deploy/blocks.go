package deploy

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/plan"
)

// note is which blocks a chain has, so that those of a thousand chains are known without looking into
// the namespaces of each. Where none counts, these are looked into.
type note struct {
	// Made is when what the chain was made from was kept: whoever makes it anew keeps that first.
	Made int64 `json:"made"`
	// Node has a namespace of the Identity.
	Node     string         `json:"node"`
	Identity string         `json:"identity"`
	Blocks   []netip.Prefix `json:"blocks"`
}

// blocksFile keeps it.
func blocksFile(owner string) string { return filepath.Join(StateDir(owner), "blocks") }

// noted are a chain's blocks, if there is a note that counts.
func noted(owner string) []netip.Prefix {
	text, err := os.ReadFile(blocksFile(owner))
	if err != nil {
		return nil
	}
	var n note
	if err := json.Unmarshal(text, &n); err != nil || n.Made != remembered(owner) || n.Identity != netns.Identity(n.Node) {
		return nil
	}
	return n.Blocks
}

// remembered is when what a chain was made from was kept; 0 where it is not.
func remembered(owner string) int64 {
	about, err := os.Stat(sourceFile(owner))
	if err != nil {
		return 0
	}
	return about.ModTime().UnixNano()
}

// Note the blocks of a chain that was made, for [Facts] of others.
func Note(p *plan.Plan) error {
	made := remembered(p.Chain)
	for _, n := range p.Nodes {
		if made == 0 || !n.Made || len(p.Blocks) == 0 {
			continue
		}
		text, err := json.Marshal(note{made, n.Namespace, netns.Identity(n.Namespace), p.Blocks})
		if err == nil {
			err = rundir.Keep(blocksFile(p.Chain), text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("note the addresses of chain %s: %w", p.Chain, err)
		}
		return nil
	}
	return nil
}
