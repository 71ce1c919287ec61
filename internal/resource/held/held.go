// Package held finds and replaces the BPF programs of nfchain's that interfaces hold. Such a
// program has its maps, and goes with its interface: all that is to be known of it is read
// from there.
package held

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// Program that an interface holds, with its maps by the names that the kernel knows them by.
type Program struct {
	*ebpf.Program
	Name string
	Maps map[string]*ebpf.Map
	// at what it was found, and its rank there.
	at   Hook
	rank Rank
}

// longest name of a program that the kernel takes, in letters.
const longest = 15

// Name of this version's program, as the kernel is to know it: a mark, by which nfchain tells
// its own, and as much of a sum of its object as there is room for.
func Name(mark string, object []byte) string {
	sum := sha256.Sum256(object)
	return (mark + hex.EncodeToString(sum[:]))[:longest]
}

// asked is a program of which the name was asked.
type asked struct{ id ebpf.ProgramID }

// OpenAt is OpenIf in a place, where those of other names are opened only once.
func OpenAt(p resource.Place, id ebpf.ProgramID, named func(string) bool) (found *Program, err error) {
	name, err := resource.Once(p, asked{id}, func() (name string, err error) {
		found, err = OpenIf(id, func(n string) bool {
			name = n
			return named(n)
		})
		return name, err
	})
	if found != nil || err != nil || !named(name) {
		return found, err
	}
	return OpenIf(id, named)
}

// Open a program by its number; nil for one without the mark, or that has gone meanwhile.
func Open(id ebpf.ProgramID, mark string) (*Program, error) {
	return OpenIf(id, func(name string) bool { return strings.HasPrefix(name, mark) })
}

// OpenIf opens a program by its number if it has a name of some kind; nil for others. Only of these the maps are looked
// for, which takes longer than all else.
func OpenIf(id ebpf.ProgramID, named func(string) bool) (*Program, error) {
	opened, err := ebpf.NewProgramFromID(id)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open program %d: %w", id, err)
	}
	p := &Program{Program: opened, Maps: map[string]*ebpf.Map{}}
	name, maps, err := aboutProgram(opened)
	if err != nil || !named(name) {
		p.Close()
		return nil, err
	}
	p.Name = name
	if err := p.openMaps(maps); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Program) openMaps(ids []ebpf.MapID) error {
	for _, id := range ids {
		m, err := ebpf.NewMapFromID(id)
		if err != nil {
			return fmt.Errorf("open map %d of program %s: %w", id, p.Name, err)
		}
		name, err := mapNames.name(id, func() (string, error) { return nameOf(m) })
		if err != nil {
			_ = m.Close()
			return err
		}
		if p.Maps[name] != nil { // it holds another's, which were bound later
			_ = m.Close()
			continue
		}
		p.Maps[name] = m
	}
	return nil
}

// Close what was opened; the interface still holds the program.
func (p *Program) Close() {
	for _, m := range p.Maps {
		_ = m.Close()
	}
	_ = p.Program.Close()
}

// CloseAll of several.
func CloseAll[P interface{ Close() }](all []P) {
	for _, p := range all {
		p.Close()
	}
}
