package pass

import (
	"fmt"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// RulesAt reads what each rule of a firewall at an interface decided, and what its policy dropped,
// since the rules are these; nothing where they are not there. What the other way's pass decided is in it where
// the two have their rules in common, as they do unless the ways have different firewalls. Bytes
// are counted from the Ethernet header on.
func RulesAt(p resource.Place, device string, f Firewall) (c ruleset.Counters, found bool, err error) {
	err = firewallsAt(p, device, func(k knowing) (err error) {
		c, found, err = k.counters(f)
		return err
	})
	if err != nil {
		err = fmt.Errorf("read what the rules of firewall %s decided at %s of namespace %q: %w", f.Name, device, p.Ref, err)
	}
	return c, found, err
}

// ConnectionsAt tells about the connections that the firewalls at an interface know; nothing where
// there are none.
func ConnectionsAt(p resource.Place, device string) (c Connections, found bool, err error) {
	err = firewallsAt(p, device, func(k knowing) (err error) {
		found = true
		c, err = ReadConnections(k.maps[rulesFlowsMap], k.maps[rulesTalliesMap])
		return err
	})
	if err != nil {
		err = fmt.Errorf("read the connections of the firewalls at %s of namespace %q: %w", device, p.Ref, err)
	}
	return c, found, err
}

// firewallsAt has the first pass of an interface looked at, if it has firewalls of this version.
func firewallsAt(p resource.Place, device string, look func(knowing) error) error {
	return knownAt(p, device, func(k knowing) error {
		if !asksRules(k.steps) {
			return nil
		}
		return look(k)
	})
}

// knownAt has the first pass of an interface looked at, if it has firewalls or NATs.
func knownAt(p resource.Place, device string, look func(knowing) error) error {
	dev, err := p.Device(device)
	if err != nil {
		return nil
	}
	return p.Do(func() error {
		all, err := find(p, dev.Attrs().Index)
		if err != nil || len(all) == 0 {
			return err
		}
		defer held.CloseAll(all)
		if k, has := all[0].knows(); has {
			return look(k)
		}
		return nil
	})
}

// counters of a firewall as of one time, if it is there.
func (k knowing) counters(f Firewall) (c ruleset.Counters, found bool, err error) {
	err = k.areas().Steadily(func(area int) (err error) {
		if err := k.ask(area); err != nil {
			return err
		}
		var of Step
		if of, found = k.same(NewRules(f.Slot).named(f)); found {
			c, err = k.countersOf(of, f)
		}
		return err
	})
	return c, found, err
}

// countersOf a firewall with these rules.
func (k knowing) countersOf(of Step, f Firewall) (c ruleset.Counters, err error) {
	tallies, err := decided(k.maps[rulesCountedMap], of.first(), f.counters())
	if err != nil {
		return c, err
	}
	c.Rules = []ruleset.Counter{}
	for i, r := range f.Rules {
		c.Rules = append(c.Rules, ruleset.Counter{Rule: i + 1, Comment: r.Comment, Text: r.Text(), Verdict: r.Verdict, Packets: tallies[i].Packets, Bytes: tallies[i].Bytes})
	}
	if last := tallies[len(f.Rules)]; f.Policy == "drop" {
		c.Dropped = &ruleset.Dropped{Packets: last.Packets, Bytes: last.Bytes}
	}
	return c, nil
}
