package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"

	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/plan"
)

// reserved is the suffix of files that say which blocks chains are about to take.
const reserved = ".blocks"

// reservation is which blocks a chain is about to take.
type reservation struct {
	Owner  string         `json:"owner"`
	Blocks []netip.Prefix `json:"blocks"`
}

// Reserve the blocks of a chain that is about to be made, for [Facts] of others, until the lock is released: images may have to be
// loaded or built before anything has an address, and others need not wait for that. The kernel gives them
// back when the process dies. The caller holds the lock of the chain's changes.
func Reserve(ctx context.Context, p *plan.Plan) (*Lock, error) {
	l, err := takeWithin(ctx, filepath.Join(rundir.Locks, url.PathEscape(p.Chain)+reserved), patience, nil) // others only look whether it is held
	if err != nil {
		return nil, fmt.Errorf("reserve the addresses of chain %s: %w", p.Chain, err)
	}
	text, err := json.Marshal(reservation{p.Chain, p.Blocks})
	if err == nil {
		err = l.Write(text)
	}
	if err != nil {
		l.Release()
		return nil, fmt.Errorf("reserve the addresses of chain %s: %w", p.Chain, err)
	}
	return &Lock{l}, nil
}

// reservedByOthers are the blocks that other chains are about to take.
func reservedByOthers(owner string) (all []reservation, err error) {
	files, err := filepath.Glob(filepath.Join(rundir.Locks, "*"+reserved))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if !rundir.Held(file) {
			continue // who reserved them is gone
		}
		var r reservation
		text, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(text, &r) != nil || r.Owner == owner {
			continue // just released, or just taken
		}
		all = append(all, r)
	}
	return all, nil
}
