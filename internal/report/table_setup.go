package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// setup adds a chain as it was read back.
func (t *rows) setup(s trial.Setup, several bool) {
	of := "chain"
	if several {
		of = "chain of " + conditionsText(s.Conditions)
	}
	t.say(of, fmt.Sprintf("wiring %s, length %d: %s", s.Wiring, s.Length, kindsText(s.Nodes)))
	for _, name := range slices.Sorted(maps.Keys(s.WiringSettings)) {
		t.say(of+", wiring's "+name, s.WiringSettings[name])
	}
	t.say(of+", SHA-256 of its plan", s.Plan)
	for _, i := range s.Interfaces {
		t.say(of+", "+interfacesText(i.Interfaces), interfaceText(i))
		t.say(of+", offloads on", strings.Join(i.OffloadsOn, ", "))
		t.say(of+", offloads that are off", strings.Join(i.OffloadsOff, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		t.say(of+", "+name, s.Settings[name])
	}
	t.say(of+", not read", strings.Join(s.Unread, "; "))
}

// conditionsText counts from one, as a person does.
func conditionsText(all []int) string {
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = strconv.Itoa(c + 1)
	}
	if len(all) == 1 {
		return "condition " + words[0]
	}
	return "conditions " + strings.Join(words, ", ")
}

// kindsText is "2 endpoint, 1 firewall".
func kindsText(nodes map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(nodes)) {
		parts = append(parts, fmt.Sprintf("%d %s", nodes[kind], kind))
	}
	return strings.Join(parts, ", ")
}

// mostNamed is how many interfaces are named before they are only counted.
const mostNamed = 6

func interfacesText(names []string) string { return words.Few(names, mostNamed, " ") }

func interfaceText(i trial.InterfaceSetup) string {
	parts := []string{i.Type, "MTU " + strconv.Itoa(i.MTU), fmt.Sprintf("%d/%d queues rx/tx", i.RxQueues, i.TxQueues),
		fmt.Sprintf("queue length %d", i.QueueLen)}
	if i.GSOMaxBytes > 0 {
		parts = append(parts, fmt.Sprintf("GSO up to %d bytes in %d segments", i.GSOMaxBytes, i.GSOMaxSegments))
	}
	if i.GSOIPv4MaxBytes > 0 {
		parts = append(parts, fmt.Sprintf("IPv4 %d", i.GSOIPv4MaxBytes))
	}
	if i.GROMaxBytes > 0 {
		parts = append(parts, fmt.Sprintf("GRO up to %d bytes", i.GROMaxBytes))
	}
	if i.GROIPv4MaxBytes > 0 {
		parts = append(parts, fmt.Sprintf("IPv4 %d", i.GROIPv4MaxBytes))
	}
	for _, name := range slices.Sorted(maps.Keys(i.Knobs)) {
		parts = append(parts, name+" "+i.Knobs[name])
	}
	for _, q := range i.Qdiscs {
		parts = append(parts, "qdisc "+q)
	}
	return strings.Join(parts, ", ")
}
