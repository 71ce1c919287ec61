// Package bpf holds the programs that run in the kernel, one directory each: the C,
// and beside it the object and the Go that loads it, which scripts/bpf writes and
// which are committed, so that building nfchain takes no compiler of C. There is no
// code in this package itself.
package bpf
