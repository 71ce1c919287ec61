package v1alpha1

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Branch leads packets on that leave a function with a mark.
type Branch struct {
	// Mark that packets have in the bits of the mask when they leave the function towards the
	// second endpoint, as rules (meta mark set), programs (SO_MARK) and functions of the kind
	// mark give it, in decimal or, with 0x before it, in hexadecimal digits.
	Mark Mark `json:"mark" jsonschema:"required"`
	// Mask has the bits of a mark that count. Default: all, 0xffffffff.
	Mask Mark `json:"mask,omitempty"`
	// To is where they go on: a function after this one, a group of some, or the second endpoint.
	To string `json:"to" jsonschema:"required"`
}

// Mark is what the kernel keeps beside a packet as long as that is in one namespace. It is
// written in decimal or, with 0x before it, in hexadecimal digits.
type Mark uint32

// MostBranches of a function.
const MostBranches = 32

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Mark) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 0, 32)
	if err != nil {
		return fmt.Errorf("%s is not a mark; write a number from 0 to 4294967295, such as 7 or 0x7", quote(string(text)))
	}
	*m = Mark(n)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (m Mark) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// String is the mark in hexadecimal digits.
func (m Mark) String() string { return fmt.Sprintf("%#x", uint32(m)) }

// Bits of a mark that count.
func (b Branch) Bits() Mark {
	if b.Mask == 0 {
		return math.MaxUint32
	}
	return b.Mask
}

// String says which packets are meant, as in "mark 0x2/0xff".
func (b Branch) String() string {
	if b.Bits() == math.MaxUint32 {
		return "mark " + b.Mark.String()
	}
	return "mark " + b.Mark.String() + "/" + b.Mask.String()
}

// covers tells whether each packet that another branch is for is one of this.
func (b Branch) covers(other Branch) bool {
	return b.Bits()&^other.Bits() == 0 && other.Mark&b.Bits() == b.Mark
}

// Parts tells whether the function says where packets go on, which without it is the next.
func (f Function) Parts() bool { return len(f.Branches) > 0 || f.Next != "" }

// Leads are the names of where the function sends packets on that do not go on to the next.
func (f Function) Leads() (names []string) {
	for _, b := range f.Branches {
		names = append(names, b.To)
	}
	if f.Next != "" {
		names = append(names, f.Next)
	}
	return names
}

// Whole tells whether these are all functions of the chain, in its order.
func (s ChainSpec) Whole(functions []string) bool {
	return slices.EqualFunc(functions, s.Functions, func(name string, f Function) bool { return name == f.Name })
}

// Parts tells whether any function says so.
func (s ChainSpec) Parts() bool {
	for _, f := range s.Functions {
		if f.Parts() {
			return true
		}
	}
	return false
}
