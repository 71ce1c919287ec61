// Package source is the kernel's half of the built-in generator: an XDP program that
// is run in live-frame mode and sends the packets that are due. Package
// nfchain.dev/nfchain/internal/traffic/builtin drives it.
package source
