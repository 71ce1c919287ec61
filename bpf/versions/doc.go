// Package versions is the program that stands before others at a port of the forwarder while the path of a chain changes
// that leads to functions with replicas, or whose ways part: it has flows stay on the version of the path that they began
// on, and leaves others to what is behind it.
package versions
