// Package classify has the programs at the ports of a chain that has several paths: one chooses
// the path of a flow by rules, and the other sends packets on by the path that their flow is on.
package classify
