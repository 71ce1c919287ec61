// Package passnattest is the program of translations of addresses by a clock that tests set, so
// that they can hold it to a model of it.
package passnattest
