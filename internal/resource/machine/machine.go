// Package machine sets what the whole machine has one of: the largest socket buffers, the
// backlog of a core, reserved hugepages, the frequency governor, the length of grace periods
// and the interrupts of a network card. What each was is written down before it is changed, so that a process
// killed at any moment loses nothing, and one chain at a time may change it. It sets
// nothing that belongs to an interface or a namespace of a chain: package tuning does.
package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/resource"
)

// KindName of settings of the machine in a plan.
const KindName = "machine"

// Spec is what one setting should be. The resource lives in the host's namespace.
type Spec struct {
	// Owner is the chain that sets it.
	Owner string `json:"owner"`
	// Setting is its name in a chain's file.
	Setting string `json:"setting"`
	// Device is the network card whose interrupts are meant, else "".
	Device string `json:"device,omitempty"`
	Value  string `json:"value"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the setting, and its device.
func (s Spec) Key() string {
	if s.Device != "" {
		return s.Setting + ":" + s.Device
	}
	return s.Setting
}

// Fingerprint is the value, in all its places.
func (s Spec) Fingerprint() string { return s.Value }

// Commands implements resource.Spec: no command writes down what there was before.
func (Spec) Commands(string) []resource.Command { return nil }

// Kind sets the machine.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind: what the owner has changed is what it has a record of.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	all, err := recordsOf(p.Owner)
	if err != nil {
		return nil, err
	}
	var found []resource.Observed
	for _, r := range all {
		found = append(found, resource.Observed{Key: r.Key, Fingerprint: r.current()})
	}
	return found, nil
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	return resource.Make(changes, func(key string) error { return restore(p.Owner, key) }, set)
}

// Possible implements resource.Wary: each setting must be one that this machine has and
// that no other chain has changed.
func (Kind) Possible(specs []resource.Spec) error {
	for _, s := range specs {
		if err := free(s.(Spec)); err != nil {
			return err
		}
		if _, err := places(s.(Spec)); err != nil {
			return err
		}
		if by := overruled[s.(Spec).Setting]; by != "" && s.(Spec).Value == "1" && value(by) == "1" {
			return fmt.Errorf("tuning.%s: %s is 1 on this machine, and wins; write 0 there, or leave it out", s.(Spec).Setting, by)
		}
	}
	return nil
}

// places of a setting are the files that hold it: those of its record, if there is one,
// since an interface that was taken in is no longer the host's.
func places(s Spec) ([]string, error) {
	if r, err := load(s.Owner, s.Key()); err == nil {
		return r.files(), nil
	}
	k, err := settingOf(s.Setting)
	if err != nil {
		return nil, err
	}
	files := k.files(s.Device)
	if len(files) == 0 {
		return nil, fmt.Errorf("tuning.%s: %s%s; leave it out", s.Setting, s.Device, k.absent)
	}
	return files, nil
}

// free refuses a setting that another chain has changed: what it was before would be lost.
func free(s Spec) error {
	others, err := filepath.Glob(recordPath("*", s.Key()))
	if err != nil {
		return err
	}
	for _, path := range others {
		if owner := filepath.Base(filepath.Dir(path)); owner != s.Owner {
			return fmt.Errorf("tuning.%s: chain %s has set it, and the machine has only one; bring that down first: nfchain down %s", s.Setting, owner, owner)
		}
	}
	return nil
}

// set writes down what there was, then sets it and reads it back.
func set(s Spec) error {
	if err := free(s); err != nil {
		return err
	}
	files, err := places(s)
	if err != nil {
		return err
	}
	r, err := load(s.Owner, s.Key())
	if err != nil {
		if r, err = describe(s, files); err != nil {
			return err
		}
		if err := save(s.Owner, r); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := os.WriteFile(file, []byte(s.Value), 0); err != nil {
			return fmt.Errorf("tuning.%s: the kernel refuses %s and has %s: %w", s.Setting, s.Value, value(file), err)
		}
	}
	if have := r.current(); have != s.Value {
		return fmt.Errorf("tuning.%s: %s was asked for, and the kernel has %s", s.Setting, s.Value, have)
	}
	return nil
}

// restore puts back what a setting was. Nothing written down is success.
func restore(owner, key string) error {
	r, err := load(owner, key)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, file := range r.files() {
		if value(file) == r.Was[file] {
			continue
		}
		if err := os.WriteFile(file, []byte(r.Was[file]), 0); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("put %s back to %s, as it was before %s: %w", file, r.Was[file], owner, err)
		}
	}
	return os.Remove(recordPath(owner, key))
}

// Restore puts everything back that the owner has changed.
func Restore(owner string) error {
	all, err := recordsOf(owner)
	if err != nil {
		return err
	}
	for _, r := range all {
		if err := restore(owner, r.Key); err != nil {
			return err
		}
	}
	return nil
}

// Current is what the machine has of a setting; "" where it does not tell.
func Current(s Spec) string {
	files, err := places(s)
	if err != nil {
		return ""
	}
	return together(files)
}

// together is the value of several files, where they agree.
func together(files []string) string {
	var all []string
	for _, f := range files {
		all = append(all, value(f))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " and ")
}

// value that a file has, without the end of its line.
func value(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Sprintf("unknown (%v)", err)
	}
	return strings.TrimSpace(string(text))
}

// records is the directory that holds a directory of each owner.
const records = rundir.Root
