// Package steer is the program at a port of the forwarder: it sends what comes in there on
// to the next node of the chain.
package steer
