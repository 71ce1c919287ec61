// Package v1alpha1 holds the nouns a user writes: NetworkServiceChain,
// ServiceFunction and Experiment. It decodes them from YAML or JSON, fills in
// defaults, validates them and makes their JSON schema. It knows no wiring, no
// function kind and no traffic tool: those are handed to it in a [Catalogue].
package v1alpha1

// Version is the apiVersion of every document this package reads.
const Version = "nfchain.dev/v1alpha1"

// The kinds of document.
const (
	KindChain      = "NetworkServiceChain"
	KindFunction   = "ServiceFunction"
	KindExperiment = "Experiment"
)

// Metadata names a document. A name is a DNS label (RFC 1123 §2.1): lower-case
// letters, digits and '-', at most 63, starting and ending with a letter or
// digit. It becomes part of the names of what is made, so nothing else fits.
type Metadata struct {
	// Name of what the document describes.
	Name string `json:"name" jsonschema:"required"`
	// Description is for people.
	Description string `json:"description,omitempty"`
	// Labels are the user's own, by name.
	Labels map[string]string `json:"labels,omitempty"`
}
