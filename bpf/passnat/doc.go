// Package passnat is the program of inline functions among which are translations of addresses.
package passnat

// Object is the program as it was compiled.
func Object() []byte { return _ProgramBytes }
