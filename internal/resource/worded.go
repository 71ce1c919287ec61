package resource

// Worded is a Spec of which the kernel keeps a sum, or numbers that say nothing to a person. Two are compared by their
// words where only what one was made from is known of it.
type Worded interface {
	Spec
	// Words are lines, one for each part, such as a rule. A part that is another changes no line but its own.
	Words() []string
}
