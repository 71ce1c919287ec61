package deploy

// interruption is the end of a context in the words of the person who ended it.
type interruption struct{ error }

func (interruption) Error() string { return "interrupted" }

func (i interruption) Unwrap() error { return i.error }

// Interrupted says that an action was cut short because its context ended, with
// the context's own error.
func Interrupted(err error) error { return interruption{err} }
