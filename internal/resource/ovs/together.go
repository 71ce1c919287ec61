package ovs

import (
	"errors"
	"sync"
)

// asked is how many switches are spoken to at once: one daemon answers for all, and takes
// what has come each time that it goes round.
const asked = 16

// together calls fn with 0 to n-1, several at once, and joins the errors.
func together(n int, fn func(i int) error) error {
	failed := make([]error, n)
	slots := make(chan struct{}, asked)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Add(1)
		go func() {
			defer all.Done()
			failed[i] = fn(i)
			<-slots
		}()
	}
	all.Wait()
	return errors.Join(failed...)
}
