// Package wiring says what a way of joining neighbours must do. Each wiring is a
// package below this one that turns one hop into resources; addresses and routes
// are the plan's, the same for every wiring.
package wiring

import "nfchain.dev/nfchain/internal/resource"

// Port is one interface of a node.
type Port struct {
	Node      string `json:"node"`
	Namespace string `json:"namespace"`
	Device    string `json:"device"`
	MAC       string `json:"mac"`
}

// Hop is two neighbouring ports that are to be joined.
type Hop struct {
	Owner string
	MTU   int
	A, B  Port
	// Needs are the resources that both ports' namespaces come from.
	Needs []string
}

// Wiring joins neighbours.
type Wiring interface {
	Name() string
	// Requires names the features the machine must have.
	Requires() []string
	// Join contributes what makes the hop. The last resource is the one that
	// the ports' addresses need.
	Join(Hop) []resource.Resource
}
