// Package feed is what lets the generator's frames onto devices that would not take
// them: a program for the far side of a veth, and one that passes frames from a helper
// veth on to a device that cannot send XDP frames.
package feed
