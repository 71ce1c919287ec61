// Package through is the programs at the interfaces of a function that only passes packets on:
// what comes in at one leaves by the other.
package through
