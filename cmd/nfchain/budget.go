package main

import (
	"errors"
	"time"
)

// noBudget says that all is to be measured, however long it takes.
const noBudget = "none"

// budgetFlag reads how long experiments may take together.
type budgetFlag struct{ of *experimentFlags }

// Set implements pflag.Value.
func (b budgetFlag) Set(text string) error {
	b.of.budget, b.of.budgetGiven = 0, true
	if text == noBudget {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("give a time, such as 30m, or none for all of it")
	}
	b.of.budget = d
	return nil
}

// String implements pflag.Value.
func (b budgetFlag) String() string {
	if b.of == nil || !b.of.budgetGiven {
		return ""
	}
	if b.of.budget == 0 {
		return noBudget
	}
	return b.of.budget.String()
}

// Type implements pflag.Value.
func (budgetFlag) Type() string { return "duration" }

// How long several published experiments take together, if nobody says.
const (
	quickBudget = 30 * time.Minute // all of them under --quick
	wholeBudget = time.Hour
)

// timed gives several published experiments a budget where the user gave none: at the sources'
// durations they take days, and he waits for an answer.
func (r reproduceFlags) timed(experiments int) experimentFlags {
	e := r.experimentFlags
	switch {
	case e.budgetGiven || experiments < 2:
	case r.all && r.quick:
		e.budget = quickBudget
	default:
		e.budget = wholeBudget
	}
	return e
}
