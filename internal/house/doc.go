// Package house holds the tests of what every room of nfchain keeps to: which
// may import which, what is documented, what no file says, and that the
// documents and the shipped files are true. There is no code in it.
package house
