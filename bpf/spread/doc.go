// Package spread is the program at a port of the forwarder that faces several replicas of a
// function: it sends what comes in there on to one of them, and what is of one flow to the
// same one.
package spread
