package ovs

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/resource"
)

// SwitchKind makes switches, all of a pass in one change of the database.
type SwitchKind struct{}

// Name implements resource.Kind.
func (SwitchKind) Name() string { return SwitchKindName }

// Read implements resource.Kind. Without daemons there are no switches.
func (SwitchKind) Read(p resource.Place) ([]resource.Observed, error) {
	if living, err := findAt(p); err != nil || ended(p.Owner, living) != nil {
		return nil, nil
	}
	s, err := readState(p.Owner, p.Ref)
	if err != nil {
		return nil, fmt.Errorf("ask the Open vSwitch of chain %s: %w", p.Owner, err)
	}
	indexes, err := indexes(p)
	if err != nil {
		return nil, err
	}
	found := make([]resource.Observed, len(s.switches))
	return found, together(len(found), func(i int) error {
		b := s.switches[i]
		flows, err := readFlows(p, b.name)
		found[i] = resource.Observed{Key: b.name, Fingerprint: s.fingerprint(b, indexes, flows)}
		return err
	})
}

// indexes of the interfaces in the place, as they are now.
func indexes(p resource.Place) (map[string]int, error) {
	links, err := p.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list interfaces of namespace %q: %w", p.Ref, err)
	}
	all := map[string]int{}
	for _, l := range links {
		all[l.Attrs().Name] = l.Attrs().Index
	}
	return all, nil
}

func (s state) fingerprint(b bridge, indexes map[string]int, flows []string) string {
	var ports []string
	for _, name := range b.ports {
		ports = append(ports, s.ports[name].text(indexes))
	}
	return fingerprint(b.datapath, b.mode, b.joins, ports, flows)
}

// text of a port that is as it should be is that of the port that was asked for.
func (p seen) text(indexes map[string]int) string {
	text := p.Port.text()
	if p.trouble != "" {
		text += " (" + p.trouble + ")"
	}
	if p.stale(indexes) {
		text += " (its interface is another meanwhile)"
	}
	return text
}

// stale tells that the daemon still has an interface that is gone: it goes on listening
// to that one where another of its name has come. (One of type internal is elsewhere; its
// end in the node is a resource of its own.)
func (p seen) stale(indexes map[string]int) bool {
	return p.Type == Device && p.index != "" && p.index != strconv.Itoa(indexes[p.Name])
}

// indexKey is where the index of a port's interface is noted.
const indexKey = "nfchain-index"

// note the indexes of the interfaces that a switch is given.
func note(s SwitchSpec, indexes map[string]int) (words []string) {
	for _, p := range s.Ports {
		if p.Type == Device {
			words = append(words, "--", "set", "interface", p.Name, fmt.Sprintf("external_ids:%s=%d", indexKey, indexes[p.Name]))
		}
	}
	return words
}

// madeWithin is how long the daemon may take to make a switch that the database has.
const madeWithin = 10 * time.Second

// made waits until the daemon has made a switch that the database has: whoever put it there
// may have been killed before the daemon was done.
func made(owner, name string) bool {
	for deadline := time.Now().Add(madeWithin); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(in(owner, name+managementSuffix)); err == nil || time.Now().After(deadline) {
			return err == nil
		}
	}
}

// readFlows of a switch, in the words of ovs-ofctl(8). One that the daemon has not made has
// none.
func readFlows(p resource.Place, name string) (flows []string, err error) {
	if !made(p.Owner, name) {
		return nil, nil
	}
	text, err := run(p.Ref, Spec{Owner: p.Owner}, "", "ovs-ofctl", "--timeout=60", "--no-names", "--no-stats", "dump-flows", management(p.Owner, name))
	if err != nil {
		return nil, fmt.Errorf("ask switch %s of chain %s for its flows: %w", name, p.Owner, err)
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "NXST_FLOW") && !strings.HasPrefix(line, "OFPST_FLOW") {
			flows = append(flows, line)
		}
	}
	return flows, nil
}

// Apply implements resource.Kind.
func (SwitchKind) Apply(p resource.Place, changes []resource.Change) error {
	was, err := readState(p.Owner, p.Ref)
	if err != nil {
		return fmt.Errorf("ask the Open vSwitch of chain %s: %w", p.Owner, err)
	}
	there, err := indexes(p)
	if err != nil {
		return err
	}
	if err := change(p.Owner, p.Ref, removals(was, there, changes)); err != nil {
		return err
	}
	var words []string
	for _, c := range changes {
		if c.Op != resource.Delete {
			s := c.Spec.(SwitchSpec)
			words = append(append(words, s.words()...), note(s, there)...)
		}
	}
	if err := change(p.Owner, p.Ref, words); err != nil {
		return err
	}
	return finish(p, changes)
}

// change the database in one transaction and wait until the daemon has done it.
func change(owner, ref string, words []string) error {
	if len(words) == 0 {
		return nil
	}
	if _, err := run(ref, Spec{Owner: owner}, "", vsctl(owner, words)...); err != nil {
		return errors.Join(fmt.Errorf("change the switches of chain %s: %w", owner, err), alive(owner, ref))
	}
	return nil
}

// removals of switches that go, and of ports that go or are made anew because they are
// not what they should be.
func removals(was state, indexes map[string]int, changes []resource.Change) (words []string) {
	wanted, deleted := map[string]string{}, map[string]bool{}
	for _, c := range changes {
		if c.Op == resource.Delete {
			deleted[c.Key] = true
			words = append(words, "--", "--if-exists", "del-br", c.Key)
			continue
		}
		for _, port := range c.Spec.(SwitchSpec).Ports {
			wanted[port.Name] = c.Key + " " + port.text()
		}
	}
	for _, b := range was.switches {
		if deleted[b.name] || !concerns(changes, b.name) {
			continue
		}
		for _, name := range b.ports {
			if wanted[name] != b.name+" "+was.ports[name].text(indexes) {
				words = append(words, "--", "--if-exists", "del-port", b.name, name)
			}
		}
	}
	return words
}

func concerns(changes []resource.Change, name string) bool {
	for _, c := range changes {
		if c.Key == name {
			return true
		}
	}
	return false
}

// unlike says what is wrong with a switch, which now is as the text says.
func (s state) unlike(b bridge, now string) string {
	var bad []string
	for _, name := range b.ports {
		if s.ports[name].trouble != "" {
			bad = append(bad, name)
		}
	}
	if len(bad) == 0 {
		return "it has " + now
	}
	return fmt.Sprintf("%d of its %d ports cannot be used, such as %s: %s", len(bad), len(b.ports), bad[0], s.ports[bad[0]].trouble)
}

// finish gives the switches their flows and looks whether each is as it should be: the
// daemon takes a port that it cannot open, and says so only when it is asked.
func finish(p resource.Place, changes []resource.Change) error {
	is, err := readState(p.Owner, p.Ref)
	if err != nil {
		return err
	}
	there, err := indexes(p)
	if err != nil {
		return err
	}
	found := map[string]bridge{}
	for _, b := range is.switches {
		found[b.name] = b
	}
	return together(len(changes), func(i int) error {
		if changes[i].Op == resource.Delete {
			return nil
		}
		s := changes[i].Spec.(SwitchSpec)
		if now := is.fingerprint(found[s.Name], there, s.Flows); now != s.Fingerprint() {
			return fmt.Errorf("switch %s of chain %s (%s) did not become what it should: %s%s",
				s.Name, p.Owner, s.Joins, is.unlike(found[s.Name], now), lastWords(p.Owner, daemon))
		}
		if _, err := run(p.Ref, Spec{Owner: p.Owner}, flowText(s), setFlows(s)...); err != nil {
			return fmt.Errorf("set the flows of switch %s of chain %s: %w", s.Name, p.Owner, err)
		}
		return nil
	})
}
