package main

import (
	"slices"
	"strings"

	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/words"
)

// did is what a step is for, as people read what it counted.
var did = map[string]string{"count": "counted", "mark": "marked", "dscp": "given the code point", "drop": "dropped", "limit": "dropped, over the limit", "rules": "dropped, by rules", "mirror": "copied", "nat": "translated"}

// lost is what became of the others.
var lost = map[string]string{"mirror": "not copied, for the tap took none", "nat": "dropped, of no connection or redirecting one"}

// printPasses prints what functions at a node's interfaces did.
func (a *app) printPasses(n runs.NodeState) {
	for _, p := range n.Passes {
		a.printf("\n%s, by %s: %s came\n", n.Name, p.Interface, tallied(p.Came))
		a.printSteps(p)
	}
}

// printThrough prints what a node's programs handed on.
func (a *app) printThrough(n runs.NodeState) {
	for _, t := range n.Through {
		a.printf("\n%s, from %s to %s: %s passed on\n", n.Name, t.Interface, t.To, tallied(t.Tally))
	}
}

// printInline prints what functions without a namespace did, hop by hop.
func (a *app) printInline(s runs.State) {
	printed := map[string]bool{}
	for _, h := range s.Hops {
		if h.Pass == nil || printed[h.Pass.Interface] {
			continue
		}
		printed[h.Pass.Interface] = true
		for _, at := range h.Pass.Beside {
			printed[at] = true
		}
		a.printf("\nfrom %s to %s: %s came\n", metFrom(s, h), h.To, tallied(h.Pass.Came))
		a.printSteps(*h.Pass)
	}
}

// metFrom are the nodes whose packets meet the functions on a hop, with those of other hops that share them.
func metFrom(s runs.State, h runs.HopState) string {
	from := []string{h.From}
	for _, other := range s.Hops {
		if other.Pass != nil && slices.Contains(h.Pass.Beside, other.Pass.Interface) && !slices.Contains(from, other.From) {
			from = append(from, other.From)
		}
	}
	return strings.Join(from, ", ")
}

func (a *app) printSteps(p runs.PassState) {
	for _, s := range p.Steps {
		of := ""
		if s.Function != "" {
			of = s.Function + " "
		}
		a.printf("  %s%s: %s\n", of, did[s.Act], tallied(s.Tally))
		if s.Lost > 0 {
			a.printf("  %s%s: %s\n", of, lost[s.Act], words.Plural(int(s.Lost), "packet"))
		}
		if s.Full > 0 {
			a.printf("  %sdropped, for no port was left for their connections: %s\n", of, words.Plural(int(s.Full), "packet"))
		}
		if b := s.Buckets; b != nil {
			a.printf("  %s%s, of %d at most; %d made room for others, whose flows begin with a full one\n", of, words.Plural(int(b.Known), "bucket"), b.Most, b.Evicted)
		}
	}
	for _, odd := range []struct {
		what string
		runs.Tally
	}{{"no IP, and untouched", p.Other}, {"malformed, and dropped", p.Malformed}, {"dropped, for the kernel had no memory to change it in", p.Unwritten}} {
		if odd.Packets > 0 {
			a.printf("  %s: %s\n", odd.what, tallied(odd.Tally))
		}
	}
}

// printTaps prints what taps take of the cores.
func (a *app) printTaps(all []runs.TapState) {
	for _, t := range all {
		a.printf("\ntap %s", t.Name)
		if t.CopyingS != nil {
			a.printf(": copying took cores about %s", words.Amount("copying_s", *t.CopyingS))
		}
		a.printf("\n")
		for _, p := range t.Programs {
			a.printf("  %s, pid %d: %.2f s of cores in %.2f s\n", p.Command, p.PID, p.CPUS, p.AgeS)
		}
		if len(t.Programs) == 0 {
			a.printf("  no program is there\n")
		}
	}
}

func tallied(t runs.Tally) string { return packetsAndBytes(t.Packets, t.Bytes) }

func packetsAndBytes(packets, bytes uint64) string {
	return words.Plural(int(packets), "packet") + ", " + words.Plural(int(bytes), "byte")
}

// printTranslations prints what became of the connections that a function translates.
func (a *app) printTranslations(f runs.InlineState) {
	for _, t := range f.Translations {
		what := "from " + t.From
		if t.To != "" {
			what = t.Service + " to " + t.To
		}
		a.printf("  %s: %s\n", what, words.Plural(int(t.Connections), "connection"))
	}
}
