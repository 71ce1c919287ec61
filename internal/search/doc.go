// Package search chooses trials: it is given those that were run and says which
// is next, or that there are enough and what they come to. It has no clock and
// does nothing itself, and all it knows is in the history, so that a search that
// was killed goes on from the trials that are stored.
//
// Each method keeps to its standard's own durations, waits and repeats unless it
// is told otherwise, and its result lists, clause by clause, what was kept.
package search
