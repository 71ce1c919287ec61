package netns

import (
	"fmt"
	"io/fs"
	"os"
)

// Held is the namespace of a process, held open: it stays that one, whatever becomes of the process and of its number.
type Held struct{ file *os.File }

// HeldBy is the namespace that a process lives in, if the process is still the one that is meant when the namespace is open: else its number may
// be another's by now, and so the namespace (fs.ErrNotExist).
func HeldBy(pid int, is func() bool) (*Held, error) {
	file, err := open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return nil, err
	}
	if !is() {
		_ = file.Close()
		return nil, fmt.Errorf("open the network namespace of process %d, which ended meanwhile: %w", pid, fs.ErrNotExist)
	}
	return &Held{file}, nil
}

// Ref is the reference of the namespace in this process, valid until Close.
func (h *Held) Ref() string { return fmt.Sprintf("/proc/self/fd/%d", h.file.Fd()) }

// Called tells whether it is the namespace of that name.
func (h *Held) Called(name string) bool {
	there, err := identify(Path(name))
	if err != nil {
		return false
	}
	its, err := identify(h.Ref())
	return err == nil && its == there
}

// Close lets go of it.
func (h *Held) Close() { _ = h.file.Close() }
