package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/plan"
)

// claim is which CPUs an owner has been given, and where it can be seen that it is there.
type claim struct {
	plan.Claim
	// Namespaces that are made for its nodes. Where there are none, it counts as long as it is noted.
	Namespaces []string `json:"namespaces"`
}

// claimFile keeps it.
func claimFile(owner string) string { return filepath.Join(StateDir(owner), "cpus") }

// Give the owner of a plan CPUs, which others keep off until it is down. The caller has the owner's lock, and where that has not been given them
// yet also the one under which chains choose. It counts as long as one of the namespaces is there that are made for the plan, or somebody has the owner's lock: what was given
// to a process that was killed before it made anything binds nobody. Of a plan for which none is made it counts until it is down.
func Give(p *plan.Plan, c plan.Claim) error {
	if c.Empty() {
		if err := os.Remove(claimFile(p.Chain)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	given := claim{Claim: c, Namespaces: []string{}}
	for _, n := range p.Nodes {
		if n.Made && n.Namespace != netns.Host {
			given.Namespaces = append(given.Namespaces, n.Namespace)
		}
	}
	text, err := json.Marshal(given)
	if err == nil {
		err = rundir.Keep(claimFile(p.Chain), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("note the CPUs of %s: %w", p.Chain, err)
	}
	return nil
}

// Given is what an owner has been given, if anything of it is there.
func Given(owner string) (plan.Claim, error) {
	c, err := claimed(owner)
	if err != nil || !c.stands() {
		return plan.Claim{}, err
	}
	return c.Claim, nil
}

// GivenOthers is what all but one owner have been given who are there, or are being made, by owner.
func GivenOthers(owner string) (plan.Claims, error) {
	files, err := filepath.Glob(claimFile("*"))
	if err != nil {
		return nil, err
	}
	all := plan.Claims{}
	for _, file := range files {
		other := filepath.Base(filepath.Dir(file))
		if other == owner {
			continue
		}
		c, err := claimed(other)
		if err != nil {
			return nil, err
		}
		if rundir.Held(LockFile(other)) || c.stands() { // in this order: who is done has made something
			all[other] = c.Claim
		}
	}
	return all, nil
}

// stands tells whether anything is there that was made for whom the claim is.
func (c claim) stands() bool {
	return len(c.Namespaces) == 0 && !c.Empty() || slices.ContainsFunc(c.Namespaces, netns.Exists)
}

func claimed(owner string) (c claim, err error) {
	text, err := os.ReadFile(claimFile(owner))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return c, fmt.Errorf("which CPUs %s has is not to be read: %w; `nfchain down %s` removes it, and %s", owner, err, owner, claimFile(owner))
	}
	return c, nil
}
