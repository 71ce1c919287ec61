// Package branch is the program at a port of the forwarder where ways part or come together: it
// sends what comes in there on by the label that it has, or back by the way that its flow came.
package branch
