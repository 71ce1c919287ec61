// Package pass is the program of inline functions: all that a hop has, fused into one.
package pass

// Object is the program as it was compiled.
func Object() []byte { return _ProgramBytes }
