// Package opens is the program at a port of the forwarder behind one of several replicas whose program has
// connections of its own: flows that come from there and that nobody knows are that replica's, so that their
// answers come back to it.
package opens
