package impair

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/trial"
)

// Counts is what the program did in one direction, since the function was made:
// Seen + Duplicated = Dropped + Overflowed + Left + Refused + what it still holds.
type Counts struct {
	// Seen packets came out of the device.
	Seen uint64
	// Dropped on purpose.
	Dropped uint64
	// Duplicated is how many were sent once more.
	Duplicated uint64
	// Reordered were put behind others; of these GivenUp went on before enough had
	// overtaken them.
	Reordered, GivenUp uint64
	// Delayed were held for a time that was asked for.
	Delayed uint64
	// Overflowed were dropped because the limit was reached.
	Overflowed uint64
	// Left packets went back into the kernel; it refused to take Refused ones.
	Left, Refused uint64
	// Unstamped came without the kernel's time of their arrival; they count from when
	// they were read.
	Unstamped uint64
	// Late counts by how long after its time the kernel was given each packet, see
	// [trial.Bucket].
	Late [trial.Buckets]uint64
}

// Since gives what was counted after an earlier reading.
func (c Counts) Since(before *Counts) *Counts {
	c.Seen -= before.Seen
	c.Dropped -= before.Dropped
	c.Duplicated -= before.Duplicated
	c.Reordered -= before.Reordered
	c.GivenUp -= before.GivenUp
	c.Delayed -= before.Delayed
	c.Overflowed -= before.Overflowed
	c.Left -= before.Left
	c.Refused -= before.Refused
	c.Unstamped -= before.Unstamped
	for i := range c.Late {
		c.Late[i] -= before.Late[i]
	}
	return &c
}

// file is a record as it lies in memory and on disk: words in the machine's order.
type file struct {
	Magic uint64
	Ways  [2]Counts
}

const magic = 0x6e66636861696e02 // "nfchain", version 2

// openRecord maps a record into memory, so that what the program counts can be read at
// any moment and outlives it: the next program goes on with it.
func openRecord(path string) (record *file, done func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, nil, fmt.Errorf("keep a record: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("keep a record: %w", err)
	}
	defer func() { _ = f.Close() }()
	size := int(unsafe.Sizeof(file{}))
	if err := f.Truncate(int64(size)); err != nil {
		return nil, nil, fmt.Errorf("keep a record: %w", err)
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("keep a record: %w", err)
	}
	record = (*file)(unsafe.Pointer(&memory[0]))
	if record.Magic != magic {
		*record = file{Magic: magic}
	}
	return record, func() { _ = unix.Munmap(memory) }, nil
}

// Read gives what a program has counted so far, forward and reverse; nil when there
// is no record.
func Read(path string) (*[2]Counts, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r file
	if err := binary.Read(bytes.NewReader(text), binary.NativeEndian, &r); err != nil || r.Magic != magic {
		return nil, fmt.Errorf("%s is no record of impair", path)
	}
	return &r.Ways, nil
}
