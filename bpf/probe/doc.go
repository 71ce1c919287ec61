// Package probe is the program that takes probes out at a port of the forwarder, which were sent
// through the function behind it. Package nfchain.dev/nfchain/internal/resource/health attaches
// and reads it.
package probe
