package plan

import (
	"errors"
	"fmt"
)

// Refusals are what a plan is refused for, each by itself, in the order in which they were found: all that is known without what
// one of them would have made. None twice.
func Refusals(err error) (all []error) {
	told := map[string]bool{}
	for _, one := range apart(err) {
		if !told[one.Error()] {
			told[one.Error()], all = true, append(all, one)
		}
	}
	return all
}

// apart are the errors that are joined in one.
func apart(err error) (all []error) {
	joined, are := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !are:
		return []error{err}
	}
	for _, one := range joined.Unwrap() {
		all = append(all, apart(one)...)
	}
	return all
}

// about has each refusal begin with what it is about.
func about(err error, what string) error {
	all := Refusals(err)
	for i, one := range all {
		all[i] = fmt.Errorf("%s: %w", what, one)
	}
	return errors.Join(all...)
}

// unfit is what a wiring has no use for, by its field of the file, and whether a chain has it.
type unfit struct {
	has        bool
	field, why string
}

// unfits refuses what a chain has of what its wiring has no use for.
func (b *builder) unfits(all ...unfit) error {
	var refused []error
	for _, u := range all {
		if u.has {
			refused = append(refused, fmt.Errorf("%s: wiring %s %s", u.field, b.chain.Spec.Wiring, u.why))
		}
	}
	return errors.Join(refused...)
}
