// Package trace is the kernel's half of `nfchain trace`: programs at tracepoints that
// count the packets which carry a run's signature at every interface of a chain, and
// every packet that ends on the way, with where and why.
// Package nfchain.dev/nfchain/internal/trace loads and reads it.
package trace
