// Package stay is the program at a port of the forwarder while the path of a chain changes: it has
// flows stay on the version of the path that they began on, and others go by the newest.
package stay
