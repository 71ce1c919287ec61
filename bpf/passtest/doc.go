// Package passtest is the program of inline functions by a clock that tests set, so that
// they can hold it to a model of it.
package passtest
