package run

import (
	"context"
	"errors"
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/words"
)

// lent is a standalone function that is up for a measurement alone. Its lock is
// held as long.
type lent struct {
	name string
	lock *deploy.Lock
}

// CheckFunctions refuses a chain to measure whose standalone functions are neither
// up nor declared, or are up in another way than declared: what is measured must be
// what the file says.
func (h *Host) CheckFunctions(ctx context.Context, chain api.Chain, alone []api.StandaloneFunction) error {
	if err := refuseWaiting(chain, nil, true); err != nil {
		return err
	}
	through, err := h.through(chain, alone, nil)
	if err != nil {
		return err
	}
	for _, f := range through {
		name := f.Metadata.Name
		if name == chain.Metadata.Name {
			return fmt.Errorf("function %s has the name of the chain that goes through it; rename one: %w", name, ErrInput)
		}
		if !upForGood(name) {
			continue
		}
		if err := h.asDeclared(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// upForGood tells that somebody brought a function up; one that a killed bench left
// is taken over.
func upForGood(name string) bool {
	return netns.Exists(namespace.Alone(name)) && !Temporary(name)
}

// asDeclared refuses a function that is up but differs from what a file declares.
func (h *Host) asDeclared(ctx context.Context, f api.StandaloneFunction) error {
	changes, err := h.UpFunction(ctx, f, UpOptions{DryRun: true})
	if err != nil || len(changes) == 0 {
		return err
	}
	return fmt.Errorf("function %s is up, but not as the file declares it: what differs is %s, such as %s; `nfchain up` with the file makes it so, `nfchain down %s` removes it: %w",
		f.Metadata.Name, words.Plural(len(changes), "object"), changes[0].ID, f.Metadata.Name, ErrInput)
}

// lendFunctions brings up those standalone functions of the file that the chains go
// through and that are not up, for as long as the measurement lasts.
func (m *Measurement) lendFunctions(ctx context.Context) error {
	if m.Keep {
		return nil
	}
	for _, f := range m.Alone {
		if !m.goesThrough(f.Metadata.Name) {
			continue
		}
		if err := m.lend(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (m *Measurement) goesThrough(name string) bool {
	for _, chain := range m.Chains {
		for _, f := range chain.Spec.Functions {
			if f.Ref == name {
				return true
			}
		}
	}
	return false
}

func (m *Measurement) lend(ctx context.Context, f api.StandaloneFunction) error {
	name := f.Metadata.Name
	if upForGood(name) {
		return m.Host.asDeclared(ctx, f)
	}
	lock, err := m.Host.Lock(ctx, name)
	if err != nil {
		return err
	}
	if upForGood(name) { // meanwhile
		lock.Release()
		return m.Host.asDeclared(ctx, f)
	}
	if err := m.Host.CheckKind(name, "function"); err != nil {
		lock.Release()
		return err
	}
	m.lent = append(m.lent, lent{name, lock})
	_, err = m.Host.UpFunction(ctx, f, UpOptions{Temporary: true, Wait: true})
	return err
}

// takeBack removes the functions that were lent, once no chain goes through them.
func (m *Measurement) takeBack() error {
	var failed []error
	for _, f := range m.lent {
		_, err := m.Host.Down(context.Background(), f.name)
		f.lock.Release()
		failed = append(failed, err)
	}
	m.lent = nil
	return errors.Join(failed...)
}

// CheckKind refuses a chain with the name of a standalone function, and the reverse:
// they share one space of names.
func (h *Host) CheckKind(name, kind string) error {
	file, err := h.Recall(name)
	if err != nil {
		return nil
	}
	if len(file.Chains) > 0 && kind != "chain" || len(file.Functions) > 0 && kind != "function" {
		return fmt.Errorf("%s %s cannot be made: something of the other kind has that name; `nfchain down %s` removes it: %w", kind, name, name, ErrInput)
	}
	return nil
}
