package pass

import (
	"fmt"
	"slices"
	"strings"

	program "nfchain.dev/nfchain/bpf/pass"
	"nfchain.dev/nfchain/bpf/passnat"
	"nfchain.dev/nfchain/bpf/passrules"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// KindName of passes in a plan.
const KindName = "pass"

// Spec of the pass at an interface, which what comes in there goes through before the
// kernel looks at it.
type Spec struct {
	Device string `json:"device"`
	Steps  []Step `json:"steps"`
	// Of are the functions whose steps these are; none where all are one function's.
	Of []string `json:"of,omitempty"`
	// Beside are other interfaces at which this same pass is: what comes in by any of them takes the same steps once, and
	// these count and remember it together. It is where one of several interfaces has a packet, as of replicas.
	Beside []string `json:"beside,omitempty"`
	// Flows is how many flows and prefixes have buckets at once; 0 where no step has any.
	Flows uint32 `json:"flows,omitempty"`
	// Taps are the interfaces beside Device that mirrors send copies out by.
	Taps []string `json:"taps,omitempty"`
	// Copied are the ends of what goes to taps, by their names; to others goes what has any.
	Copied map[string]Ends `json:"copied,omitempty"`
	// Firewalls are the rules of the steps that are some, and NATs of those that translate.
	Firewalls []Firewall `json:"firewalls,omitempty"`
	NATs      []NAT      `json:"nats,omitempty"`
	// Connections that firewalls remember at once, all together, and NATs, with all of the owner's in the
	// namespace: of more, those not seen for longest are forgotten. 0 where there are neither.
	Connections uint32 `json:"connections,omitempty"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the interface.
func (s Spec) Key() string { return s.Device }

// Fingerprint is every step, in order, of firewalls and NATs with a sum of their rules. What is read
// from a program of another version is none of them.
func (s Spec) Fingerprint() string {
	return contents{steps: s.named(), copied: s.copied(), flows: s.Flows, connections: s.Connections}.fingerprint(s.Taps)
}

// contents are the steps of a pass, where its taps are and what they ask for, for how many flows it has
// buckets, and how many connections its firewalls or NATs know.
type contents struct {
	steps              []Step
	taps               numbers
	copied             [MostTaps]masks
	flows, connections uint32
}

func (c contents) fingerprint(taps []string) string {
	var words []string
	for _, s := range c.steps {
		text := s.words()
		if s.Act == Mirror && int(s.tap()) < len(taps) {
			text += " to " + taps[s.tap()] + c.copied[s.tap()].words(s.version())
		}
		words = append(words, text)
	}
	if hasBuckets(c.steps) {
		words = append(words, fmt.Sprintf("for %d flows", c.flows))
	}
	if asksRules(c.steps) || translates(c.steps) {
		words = append(words, fmt.Sprintf("for %d connections", c.connections))
	}
	return strings.Join(words, ", ")
}

// Lessens tells whether a pass of one fingerprint in the place of another does nothing that the
// other does not do.
func Lessens(was, is string) bool {
	before := strings.Split(was, ", ")
	for _, step := range strings.Split(is, ", ") {
		if !strings.HasPrefix(step, "for ") && !slices.Contains(before, step) {
			return false
		}
	}
	return true
}

// The ways of a NAT, in a fingerprint.
const opensWay, answersWay = "opens", "answers to"

// EitherWay is a fingerprint without what a step says of the way that packets go: a NAT's is the same for both then.
func EitherWay(fingerprint string) string {
	return strings.ReplaceAll(fingerprint, " "+answersWay+" ", " "+opensWay+" ")
}

// Translates tells whether one of the steps in a fingerprint translates addresses.
func Translates(fingerprint string) bool { return does(fingerprint, Translate) }

// Limits tells whether one lets so many packets on.
func Limits(fingerprint string) bool { return does(fingerprint, Limit) }

func does(fingerprint string, act Act) bool {
	return slices.ContainsFunc(strings.Split(fingerprint, ", "), func(step string) bool { return strings.HasPrefix(step, act.String()+" ") })
}

// words are all of a step. Where the table of a firewall or the rules of a NAT are says nothing of it.
func (s Step) words() string {
	switch s.Act {
	case Rules:
		return fmt.Sprintf("%s %d of %08x: %016x", s.Act, s.Slot, s.Args[1], s.digest())
	case Translate:
		way := answersWay
		if s.opens() {
			way = opensWay
		}
		return fmt.Sprintf("%s %d %s %08x: %016x", s.Act, s.Slot, way, s.whose(), s.digest())
	}
	return fmt.Sprintf("%s %d %v", s.Act, s.Slot, s.Args)
}

// Commands implements resource.Spec: only nfchain has the program.
func (Spec) Commands(string) []resource.Command { return nil }

// The names of this version's programs: with neither firewalls nor NATs, with firewalls, and with NATs
// and maybe firewalls.
var (
	name      = held.Name(held.PassMark, program.Object())
	rulesName = held.Name(held.PassMark, passrules.Object())
	natName   = held.Name(held.PassMark, passnat.Object())
)

// names of acts in a plan.
var names = [...]string{End: "end", Count: "count", Mark: "mark", DSCP: "dscp", Drop: "drop", Limit: "limit", Rules: "rules", Mirror: "mirror", Translate: "nat"}

// String is the act's name.
func (a Act) String() string {
	if int(a) < len(names) {
		return names[a]
	}
	return fmt.Sprintf("act %d", uint32(a))
}

// MarshalText writes the act's name.
func (a Act) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads it.
func (a *Act) UnmarshalText(text []byte) error {
	for i, n := range names {
		if n == string(text) {
			*a = Act(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no act of a pass", text)
}
