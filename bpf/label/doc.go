// Package label is the program at an interface of a function by which packets leave it: it labels
// them with the node that they are to go to, by the marks that they have there.
package label
