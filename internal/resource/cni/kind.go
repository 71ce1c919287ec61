package cni

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/resource"
)

// Kind attaches namespaces to networks.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// What is found in place of the fingerprint of an attachment that is not whole.
const (
	lost    = "the interface is not there"
	half    = "not all of the network's plugins have made what they make"
	altered = "is not as the plugins made it: "
)

// recordPrefix begins the files in which it is written down how an owner's namespaces are attached.
const recordPrefix = "cni-"

// record is where that is of one namespace.
func record(owner, namespace string) string {
	return filepath.Join(rundir.Of(owner), recordPrefix+namespace)
}

// Attached is how an owner's namespace is attached, or was to be; ok is false where it is not.
func Attached(owner, namespace string) (s Spec, ok bool, err error) {
	text, err := os.ReadFile(record(owner, namespace))
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, false, fmt.Errorf("read how namespace %s is attached: %w", namespace, err)
	}
	return s, true, nil
}

// All of an owner's attachments.
func All(owner string) (all []Spec, err error) {
	names, err := filepath.Glob(record(owner, "*"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		s, ok, err := Attached(owner, strings.TrimPrefix(filepath.Base(name), recordPrefix))
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, s)
		}
	}
	return all, nil
}

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	s, ok, err := Attached(p.Owner, p.Ref)
	if err != nil || !ok {
		return nil, err
	}
	found := resource.Observed{Key: s.Device, Fingerprint: s.Fingerprint()}
	links, err := p.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list interfaces of namespace %q: %w", p.Ref, err)
	}
	there := false
	for _, l := range links {
		there = there || l.Attrs().Name == s.Device
	}
	if !there {
		found.Fingerprint = lost
	} else if is, err := s.whole(p.Owner); err != nil {
		return nil, err
	} else if !is {
		found.Fingerprint = half
	} else if err := s.check(p.Owner); err != nil {
		found.Fingerprint = altered + err.Error()
	}
	return []resource.Observed{found}, nil
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	return resource.Make(changes, func(string) error { return Detach(p.Owner, p.Ref) }, func(s Spec) error {
		if err := Detach(p.Owner, p.Ref); err != nil {
			return err
		}
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if err := rundir.Keep(record(p.Owner, p.Ref), text, 0o600); err != nil {
			return fmt.Errorf("write down how namespace %s is attached: %w", p.Ref, err)
		}
		return s.attach(p.Owner)
	})
}

// Detach an owner's namespace, whether or not it is there still.
func Detach(owner, namespace string) error {
	s, ok, err := Attached(owner, namespace)
	if err != nil || !ok {
		return err
	}
	if err := s.detach(owner); err != nil {
		return err
	}
	checks, err := filepath.Glob(filepath.Join(told(owner), checkPrefix(namespace)+"*"))
	for _, left := range checks { // of processes that were killed
		err = errors.Join(err, os.RemoveAll(left))
	}
	if err != nil {
		return err
	}
	return os.Remove(record(owner, namespace))
}

// DetachAll of an owner's namespaces.
func DetachAll(owner string) error {
	all, err := All(owner)
	for _, s := range all {
		err = errors.Join(err, Detach(owner, s.Namespace))
	}
	return err
}
