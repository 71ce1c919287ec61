// Package tuning sets how the kernel handles packets at an interface, and TCP in a
// namespace: offloads, the sizes of super-packets, queues, the cores that serve them,
// and what TCP starts from. It works on any interface of the owner's, whatever made it,
// and reads back what it set, because the kernel leaves out in silence what it cannot do.
package tuning

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// KindName of tuning in a plan.
const KindName = "tuning"

// Loopback is the device that stands for its namespace: settings of TCP are there.
const Loopback = "lo"

// Setting is one knob, by its name in a chain's file, and its value as [Knobs] write it.
type Setting struct {
	Knob  string `json:"knob"`
	Value string `json:"value"`
}

// Spec is what is set at one interface. What is not among the settings stays as it is, or
// becomes again what it was before nfchain set it.
type Spec struct {
	Device   string    `json:"device"`
	Settings []Setting `json:"settings"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the interface.
func (s Spec) Key() string { return s.Device }

// Fingerprint is every knob that is set with its value, in the order of [Knobs].
func (s Spec) Fingerprint() string {
	var words []string
	for _, k := range knobs {
		if v, is := s.value(k.name); is {
			words = append(words, k.name+"="+v)
		}
	}
	return strings.Join(words, " ")
}

func (s Spec) value(knob string) (string, bool) {
	i := slices.IndexFunc(s.Settings, func(set Setting) bool { return set.Knob == knob })
	if i < 0 {
		return "", false
	}
	return s.Settings[i].Value, true
}

// Kind sets knobs.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind: it finds the interfaces that carry a mark of what is
// set at them.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	links, err := p.LinkList() // marks are written after the place was first listed
	if err != nil {
		return nil, fmt.Errorf("list interfaces of namespace %q: %w", p.Ref, err)
	}
	var found []resource.Observed
	for _, l := range links {
		if m := markOf(l); len(m) > 0 && ours(p, l) {
			found = append(found, resource.Observed{Key: l.Attrs().Name, Fingerprint: observe(p, l, m)})
		}
	}
	return found, nil
}

// ours tells whether an interface is one that the owner may set.
func ours(p resource.Place, l netlink.Link) bool {
	if l.Attrs().Name == Loopback {
		return namespace.Owns(p.Owner, p.Ref)
	}
	return resource.Owned(l.Attrs().Alias, p.Owner)
}

func observe(p resource.Place, l netlink.Link, m mark) string {
	at := &port{Place: p, link: l}
	defer at.close()
	var words []string
	for _, k := range knobs {
		if _, set := m[k.code]; set {
			words = append(words, k.name+"="+at.read(k))
		}
	}
	return strings.Join(words, " ")
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	for _, c := range changes {
		spec := Spec{Device: c.Key}
		if c.Op != resource.Delete {
			spec = c.Spec.(Spec)
		}
		if err := apply(p, spec); err != nil {
			return fmt.Errorf("tuning of %s in namespace %q: %w", c.Key, p.Ref, err)
		}
	}
	return nil
}

// apply writes down what each knob was before it is set for the first time, puts back
// those that are set no more, and then holds the kernel to the rest.
func apply(p resource.Place, s Spec) error {
	l, err := p.LinkByName(s.Device)
	var gone netlink.LinkNotFoundError
	if errors.As(err, &gone) && len(s.Settings) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if !ours(p, l) {
		return errors.New("the interface is not this chain's")
	}
	at := &port{Place: p, link: l}
	defer at.close()
	was := markOf(l)
	if err := at.remember(s, was); err != nil {
		return err
	}
	if err := at.putBack(s, was); err != nil {
		return err
	}
	return at.set(s)
}

// remember adds to the mark what the knobs are that are not in it yet.
func (at *port) remember(s Spec, was mark) error {
	for _, set := range s.Settings {
		k, err := knobOf(set.Knob)
		if err != nil {
			return err
		}
		if _, known := was[k.code]; known {
			continue
		}
		if was[k.code], err = k.read(at); err != nil {
			return fmt.Errorf("%s: it cannot be read here, so it cannot be set: %w", k.name, err)
		}
	}
	return at.mark(was)
}

// putBack what the spec does not have, and takes it off the mark.
func (at *port) putBack(s Spec, was mark) error {
	old := map[string]string{}
	for _, k := range knobs {
		value, known := was[k.code]
		if _, wanted := s.value(k.name); known && !wanted {
			if value == "" || value == partly || value == differs {
				return fmt.Errorf("%s: what it was before cannot be asked for again; `nfchain down` the chain and make it anew", k.name)
			}
			old[k.name] = value
			delete(was, k.code)
		}
	}
	if err := at.hold(old); err != nil {
		return err
	}
	return at.mark(was)
}

func (at *port) set(s Spec) error {
	values := map[string]string{}
	for _, set := range s.Settings {
		values[set.Knob] = set.Value
	}
	return at.hold(values)
}

// hold writes what differs, and then asks for everything: one knob may move another.
func (at *port) hold(values map[string]string) error {
	for _, k := range inTurn(values) {
		if at.read(k) == values[k.name] {
			continue
		}
		if err := at.write(k, values[k.name]); err != nil {
			return err
		}
	}
	for _, k := range knobs {
		want, is := values[k.name]
		if have := at.read(k); is && have != want {
			return fmt.Errorf("%s: %s was asked for, and the kernel has %s%s", k.name, want, have, hint(k))
		}
	}
	return nil
}

// inTurn is first what is switched off, backwards, so that nothing rests on it any more,
// and then the rest.
func inTurn(values map[string]string) (all []knob) {
	for _, k := range slices.Backward(knobs) {
		if v, is := values[k.name]; is && (v == off || v == None) {
			all = append(all, k)
		}
	}
	for _, k := range knobs {
		if v, is := values[k.name]; is && v != off && v != None {
			all = append(all, k)
		}
	}
	return all
}

func (at *port) write(k knob, value string) error {
	if err := k.write(at, value); err != nil {
		return fmt.Errorf("%s: the kernel refuses %s and has %s: %w%s", k.name, value, at.read(k), err, hint(k))
	}
	return nil
}

// read is for showing and comparing: what cannot be read equals nothing that is asked for.
func (at *port) read(k knob) string {
	value, err := k.read(at)
	if err != nil {
		return fmt.Sprintf("unknown (%v)", err)
	}
	return value
}

func hint(k knob) string {
	if k.hint == "" {
		return ""
	}
	return "; " + k.hint
}
