package netns

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Unnamed is a namespace that no other process finds: it goes when it is closed, or
// with this process, however that ends.
type Unnamed struct{ file *os.File }

// NewUnnamed makes a namespace without a name.
func NewUnnamed() (*Unnamed, error) {
	var u Unnamed
	err := onThread(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		u.file, err = os.Open("/proc/thread-self/ns/net")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create a network namespace: %w", err)
	}
	return &u, nil
}

// Ref is the reference of the namespace in this process, valid until Close.
func (u *Unnamed) Ref() string { return fmt.Sprintf("/proc/self/fd/%d", u.file.Fd()) }

// Close lets the kernel free the namespace, with all interfaces in it.
func (u *Unnamed) Close() { _ = u.file.Close() }

// Aside does something in a namespace that no other process finds and that is gone after.
func Aside(do func(*Handle) error) error {
	u, err := NewUnnamed()
	if err != nil {
		return err
	}
	defer u.Close()
	h, err := Open(u.Ref())
	if err != nil {
		return err
	}
	defer h.Close()
	return do(h)
}
