// Package pass is the program of inline functions: all that a hop has, fused into one.
package pass
