// Package profile is the kernel's half of `nfchain profile`: programs that note which
// device's packets each core is at, and tell it with each sample of a core's stack.
// Package nfchain.dev/nfchain/internal/profile loads and reads it.
package profile
