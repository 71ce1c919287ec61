package tuning

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// mark is what knobs were before nfchain set them, by their code. It is kept with the
// interface itself, as an alternative name (ip-link(8), altname): it goes when the
// interface goes, and is there after any kill.
type mark map[string]string

// markPrefix begins an alternative name that is a mark; the interface's name follows,
// because alternative names are unique in a namespace.
const markPrefix = "nfchain,"

// short forms of values, because an alternative name has 127 letters at most.
var short = map[string]string{on: "t", off: "f", None: "n"}

// apart keeps values with spaces, and lists of CPUs with commas, one word of a mark, and together makes them what they were.
var apart, together = strings.NewReplacer(" ", "_", ",", "+"), strings.NewReplacer("_", " ", "+", ",")

func shorten(value string) string {
	if s, is := short[value]; is {
		return s
	}
	return apart.Replace(value)
}

func lengthen(value string) string {
	for long, s := range short {
		if s == value {
			return long
		}
	}
	return together.Replace(value)
}

// name is the alternative name: nfchain,eth0,gr=f,gs=t.
func (m mark) name(device string) string {
	words := []string{markPrefix + device}
	for _, code := range slices.Sorted(maps.Keys(m)) {
		words = append(words, code+"="+shorten(m[code]))
	}
	return strings.Join(words, ",")
}

// markOf an interface. Where a killed process left two, the later has no less than what
// is set, so both count.
func markOf(l netlink.Link) mark {
	m := mark{}
	for _, name := range marks(l) {
		words := strings.Split(strings.TrimPrefix(name, markPrefix), ",")
		for _, w := range words[1:] {
			code, value, _ := strings.Cut(w, "=")
			m[code] = lengthen(value)
		}
	}
	return m
}

func marks(l netlink.Link) []string {
	var found []string
	for _, name := range l.Attrs().AltNames {
		if strings.HasPrefix(name, markPrefix) {
			found = append(found, name)
		}
	}
	return found
}

// mark writes the new mark and then takes the old ones away.
func (at *port) mark(m mark) error {
	l, err := at.LinkByIndex(at.link.Attrs().Index)
	if err != nil {
		return err
	}
	old, name := marks(l), ""
	if len(m) > 0 {
		name = m.name(at.device())
	}
	if name != "" && !slices.Contains(old, name) {
		if err := at.LinkAddAltName(l, name); err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("write down what was set before, as alternative name %s: %w", name, err)
		}
	}
	for _, o := range old {
		if o == name {
			continue
		}
		if err := at.LinkDelAltName(l, o); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("remove alternative name %s: %w", o, err)
		}
	}
	return nil
}
