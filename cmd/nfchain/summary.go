package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/bridge"
	"nfchain.dev/nfchain/internal/resource/cni"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/label"
	"nfchain.dev/nfchain/internal/resource/lookup"
	"nfchain.dev/nfchain/internal/resource/machine"
	"nfchain.dev/nfchain/internal/resource/macvlan"
	"nfchain.dev/nfchain/internal/resource/nsh"
	"nfchain.dev/nfchain/internal/resource/opens"
	"nfchain.dev/nfchain/internal/resource/ovs"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/qdisc"
	"nfchain.dev/nfchain/internal/resource/ruleset"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/resource/through"
	"nfchain.dev/nfchain/internal/resource/tuning"
	"nfchain.dev/nfchain/internal/words"
)

// nouns of kinds that are not called what their package is, one and several.
var nouns = map[string][2]string{
	address.KindName:          {"address", "addresses"},
	adopted.KindName:          {"interface", "interfaces"},
	cni.KindName:              {"CNI attachment", "CNI attachments"},
	process.KindName:          {"program", "programs"},
	container.NamesKindName:   {"file of names", "files of names"},
	container.NetworkKindName: {"network of the engine", "networks of the engine"},
	bridge.PortKindName:       {"bridge port", "bridge ports"},
	macvlan.KindName:          {"macvlan or ipvlan device", "macvlan or ipvlan devices"},
	lookup.KindName:           {"routing table", "routing tables"},
	machine.KindName:          {"setting of the machine", "settings of the machine"},
	tuning.KindName:           {"interface", "interfaces"},
	qdisc.KindName:            {"queueing discipline", "queueing disciplines"},
	ruleset.KindName:          {"rule set", "rule sets"},
	steer.KindName:            {"steering program", "steering programs"},
	pass.KindName:             {"pass", "passes"},
	through.KindName:          {"pass-through program", "pass-through programs"},
	nsh.PushKindName:          {"pushing program", "pushing programs"},
	nsh.PopKindName:           {"popping program", "popping programs"},
	opens.KindName:            {"note of flows", "notes of flows"},
	label.KindName:            {"set of labels", "sets of labels"},
	health.KindName:           {"watch over functions", "watches over functions"},

	ovs.KindName:       {"Open vSwitch", "Open vSwitches"},
	ovs.SwitchKindName: {"switch", "switches"},
	ovs.PortKindName:   {"switch port", "switch ports"},
}

// verbs of operations, and those of kinds that have their own.
var (
	verbs     = map[resource.Op]string{resource.Create: "created", resource.Update: "updated", resource.Delete: "removed"}
	kindVerbs = map[string]map[resource.Op]string{
		adopted.KindName:        {resource.Create: "adopted", resource.Update: "adopted anew", resource.Delete: "put back"},
		ovs.KindName:            {resource.Create: "started", resource.Update: "set anew", resource.Delete: "ended"},
		machine.KindName:        {resource.Create: "changed", resource.Update: "changed", resource.Delete: "put back"},
		container.NamesKindName: {resource.Create: "written", resource.Update: "written anew", resource.Delete: "removed"},
		process.KindName:        {resource.Create: "started", resource.Update: "replaced", resource.Delete: "ended"},
		tuning.KindName:         {resource.Create: "tuned", resource.Update: "tuned anew", resource.Delete: "put back"},
	}
)

// summary says in one line what an up changed.
func summary(name string, changes []resource.Change, dry bool) string {
	if len(changes) == 0 {
		return name + ": up to date, nothing changed"
	}
	verb := ": up; "
	if dry {
		verb = ": would be changed; "
	}
	return name + verb + strings.Join(counted(changes), ", ")
}

// bareSummary says so of a chain that comes up and makes nothing.
func bareSummary(name string, dry bool) string {
	if dry {
		return name + ": would be up; it makes nothing, and its ends are the host's own"
	}
	return name + ": up; it makes nothing, and its ends are the host's own"
}

// counted are the changes by operation and kind, in the order in which kinds are made.
func counted(changes []resource.Change) []string {
	type what struct {
		op   resource.Op
		kind string
		// as says what became of what runs on, instead of the verb.
		as string
	}
	count := map[what]int{}
	var order []what
	for _, c := range changes {
		w := what{op: c.Op, kind: c.Kind}
		switch {
		case process.TakesOver(c):
			w.as = "taken over"
		case container.Limited(c):
			w.as = "limited anew"
		}
		if count[w]++; count[w] == 1 {
			order = append(order, w)
		}
	}
	ops := []resource.Op{resource.Create, resource.Update, resource.Delete}
	slices.SortFunc(order, func(a, b what) int {
		if a.op != b.op {
			return slices.Index(ops, a.op) - slices.Index(ops, b.op)
		}
		if a, b := deploy.Stage(a.kind), deploy.Stage(b.kind); a != b {
			return a - b
		}
		if a.kind == b.kind {
			return strings.Compare(b.as, a.as)
		}
		return strings.Compare(a.kind, b.kind)
	})
	parts := make([]string, len(order))
	for i, w := range order {
		parts[i] = phrase(count[w], w.op, w.kind)
		if w.as != "" {
			noun := nouns[w.kind][0]
			parts[i] = words.Plural(count[w], cmp.Or(noun, w.kind)) + " " + w.as
		}
	}
	return parts
}

// phrase such as "12 routes created".
func phrase(n int, op resource.Op, kind string) string {
	noun, irregular := nouns[kind]
	if !irregular {
		noun = [2]string{kind, kind + "s"}
	}
	verb := verbs[op]
	if own := kindVerbs[kind][op]; own != "" {
		verb = own
	}
	if n == 1 {
		return fmt.Sprintf("1 %s %s", noun[0], verb)
	}
	return fmt.Sprintf("%d %s %s", n, noun[1], verb)
}
