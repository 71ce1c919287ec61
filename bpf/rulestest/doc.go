// Package rulestest runs bpf/include/rules.h in the kernel, so that a test can hold it to
// its Go half and measure it.
package rulestest
