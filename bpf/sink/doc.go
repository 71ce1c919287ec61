// Package sink is the kernel's half of the built-in meter: a program on the far
// interface that takes measured packets, counts them and bins their one-way times.
// Package nfchain.dev/nfchain/internal/traffic/builtin attaches and reads it.
package sink
