package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/trial"
)

// chainDifferences compares how the chains were made of those conditions that both
// runs have: wiring, and what of their interfaces moves packets. Queueing
// disciplines are the chain's functions, and those may be what is compared.
func chainDifferences(a, b trial.Run) (out []Difference) {
	for _, d := range chainPairs(a, b) {
		for _, found := range setupDifferences(d[0], d[1]) {
			if !slices.Contains(out, found) {
				out = append(out, found)
			}
		}
	}
	return out
}

// chainPairs are the set-ups of conditions that are alike; one that is unknown is
// nil.
func chainPairs(a, b trial.Run) (pairs [][2]*trial.Setup) {
	partner := map[string]int{}
	for j, c := range b.Conditions {
		partner[key(c, true)] = j
	}
	for i, c := range a.Conditions {
		if j, has := partner[key(c, true)]; has {
			pairs = append(pairs, [2]*trial.Setup{setupOf(a, i), setupOf(b, j)})
		}
	}
	return pairs
}

// setupOf a condition as it was first made; nil where it was not stored.
func setupOf(r trial.Run, condition int) *trial.Setup {
	for i, s := range r.Setups {
		if slices.Contains(s.Conditions, condition) {
			return &r.Setups[i]
		}
	}
	return nil
}

func setupDifferences(a, b *trial.Setup) []Difference {
	if a == nil || b == nil {
		return unequal([]Difference{{"chain as read back", setupKnown(a), setupKnown(b)}})
	}
	of := func(what string, f func(trial.InterfaceSetup) string) Difference {
		return Difference{what, distinct(*a, f), distinct(*b, f)}
	}
	all := []Difference{
		{"wiring", a.Wiring, b.Wiring},
		of("interfaces", func(i trial.InterfaceSetup) string { return i.Type }),
		of("drivers", func(i trial.InterfaceSetup) string { return i.Driver }),
		of("MTU", func(i trial.InterfaceSetup) string { return strconv.Itoa(i.MTU) }),
		of("receive queues", func(i trial.InterfaceSetup) string { return strconv.Itoa(i.RxQueues) }),
		of("transmit queues", func(i trial.InterfaceSetup) string { return strconv.Itoa(i.TxQueues) }),
		of("queue length", func(i trial.InterfaceSetup) string { return strconv.Itoa(i.QueueLen) }),
		of("GSO", func(i trial.InterfaceSetup) string { return superText(i.GSOMaxBytes, i.GSOIPv4MaxBytes) }),
		of("GRO", func(i trial.InterfaceSetup) string { return superText(i.GROMaxBytes, i.GROIPv4MaxBytes) }),
	}
	all = append(all, unequalMaps("wiring's setting ", a.WiringSettings, b.WiringSettings)...)
	all = append(all, unequalMaps("offload ", offloads(*a), offloads(*b))...)
	all = append(all, unequalMaps("knob ", knobs(*a), knobs(*b))...)
	return unequal(append(all, unequalMaps("chain's setting ", ownSettings(*a), ownSettings(*b))...))
}

// ownSettings are a chain's settings without those that follow from what it is made
// of, and from the memory there is.
func ownSettings(s trial.Setup) map[string]string {
	own := maps.Clone(s.Settings)
	maps.DeleteFunc(own, func(name, _ string) bool {
		return strings.HasSuffix(name, "forward") || strings.HasSuffix(name, "forwarding") || slices.Contains(followMemory, name)
	})
	return own
}

func setupKnown(s *trial.Setup) string {
	if s == nil {
		return ""
	}
	return "known"
}

// superText is the largest super-packet of each family, empty where it is unknown.
func superText(all, ipv4 uint32) string {
	if all == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(all), 10) + ", IPv4 " + strconv.FormatUint(uint64(ipv4), 10)
}

// distinct lists the values that a chain's interfaces have, each once.
func distinct(s trial.Setup, f func(trial.InterfaceSetup) string) string {
	var values []string
	for _, i := range s.Interfaces {
		values = append(values, f(i))
	}
	slices.Sort(values)
	return strings.Join(slices.Compact(values), "; ")
}

// knobs of a chain by name, with every value that its interfaces have.
func knobs(s trial.Setup) map[string]string {
	found := map[string]string{}
	for _, i := range s.Interfaces {
		for name := range i.Knobs {
			found[name] = distinct(s, func(i trial.InterfaceSetup) string { return i.Knobs[name] })
		}
	}
	return found
}

// offloads of a chain by name: on, off, or both where its interfaces differ.
func offloads(s trial.Setup) map[string]string {
	states := map[string][]string{}
	for _, i := range s.Interfaces {
		for _, name := range i.OffloadsOn {
			states[name] = append(states[name], "on")
		}
		for _, name := range i.OffloadsOff {
			states[name] = append(states[name], "off")
		}
	}
	found := map[string]string{}
	for name, all := range states {
		slices.Sort(all)
		found[name] = strings.Join(slices.Compact(all), " and ")
	}
	return found
}
