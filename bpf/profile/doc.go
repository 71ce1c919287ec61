// Package profile is the kernel's half of `nfchain profile`: a program that is run at
// every tick of a clock on each core, and notes the stacks that it finds there and
// whose packets the core was at.
// Package nfchain.dev/nfchain/internal/trace loads and reads it.
package profile
