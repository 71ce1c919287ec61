// Package feature asks what this machine can do: its kernel, its tools, the
// privileges held, its processors and memory. Asking changes nothing: what has to
// be tried is tried in a scratch network namespace that vanishes with its thread.
// (A kernel with loadable modules may load one when asked for what it holds, as
// any use of it would.) It decides nothing: a plan says what it needs, and
// Set.Missing says what of that is not here and how to get it.
package feature

// Feature is one thing a machine may be able to do.
type Feature struct {
	// Name is stable: lower-case, dotted ("qdisc.htb", "tool.iperf3").
	Name  string `json:"name"`
	Group string `json:"group"`
	// Present is true only where it was seen to work.
	Present bool `json:"present"`
	// Detail is what was seen: a version, a count, a setting. It may stand beside
	// an absent feature too.
	Detail string `json:"detail,omitempty"`
	// Why it is absent.
	Why string `json:"why,omitempty"`
	// Enables says what nfchain does with it.
	Enables string `json:"enables"`
	// Fix is the way to close the gap, a command where there is one.
	Fix string `json:"fix,omitempty"`
}

// The groups of features, in the order they are listed.
const (
	Privileges = "privileges"
	Kernel     = "kernel"
	Tools      = "tools"
	CPU        = "cpu"
	Memory     = "memory"
)

// Groups lists every group in the order of Set.All.
func Groups() []string { return []string{Privileges, Kernel, Tools, CPU, Memory} }

// A question is a feature and the way to ask for it.
type question struct {
	name    string
	enables string
	ask     asking
}

// answer is what asking gave; see Feature for its fields.
type answer struct {
	present          bool
	detail, why, fix string
}

func yes(detail string) answer { return answer{present: true, detail: detail} }

func no(why, fix string) answer { return answer{why: why, fix: fix} }

// of makes the feature that an answer to q describes.
func (a answer) of(q question) Feature {
	return Feature{
		Name: q.name, Group: groupOf(q.name), Enables: q.enables,
		Present: a.present, Detail: a.detail, Why: a.why, Fix: a.fix,
	}
}
