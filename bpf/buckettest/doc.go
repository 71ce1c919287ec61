// Package buckettest runs bpf/include/bucket.h in the kernel, so that a test can hold
// it to its Go half.
package buckettest
