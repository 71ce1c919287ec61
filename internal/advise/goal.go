package advise

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// ErrGoal is returned for a text that is no goal.
var ErrGoal = errors.New("wrong goal")

// Goal is what a chain must keep: all of its clauses.
type Goal []Clause

// Clause is one thing that is wanted.
type Clause struct {
	// Text as it was written.
	Text string `json:"text"`
	// Word is what it is about, one of [Words].
	Word string `json:"word"`
	// Protocol that it is about; empty for all that measured it.
	Protocol string `json:"protocol,omitempty"`
	// Metrics are those that tell, the first that a condition has.
	Metrics trial.List[string] `json:"metrics"`
	// AtLeast tells a lower bound from an upper one; Strict excludes Bound itself, which is
	// in the unit of the metric's name.
	AtLeast bool    `json:"at_least"`
	Strict  bool    `json:"strict"`
	Bound   float64 `json:"bound"`

	// frames tells that Bound counts frames where the word also has bits.
	frames bool
}

// word is something that a goal may ask for.
type word struct {
	name    string
	metrics []string
	// more is better.
	more bool
	read func(text string) (float64, error)
}

// both ways in which latency is measured: there and back, and one way.
func both(percentile string) []string {
	return []string{"latency_" + percentile + "_ns", "one_way_latency_" + percentile + "_ns"}
}

// searched is what searches for a load without loss find: the throughput, and of
// MLRsearch the conditional one of the goal that allows no loss.
var searched = []string{"throughput_pps", "ndr_conditional_throughput_pps"}

// inFrames are rates of frames, searched or not.
var inFrames = append(slices.Clone(searched), "forwarding_rate_pps", "packet_rate_pps")

// Words for times that are no latency: of a transaction that makes a connection of its own,
// and of a chain until it is up.
const (
	connect = "connect"
	setup   = "setup"
)

// asked is what a goal may ask for. Throughput is what a search for a load without loss
// found (RFC 1242 §3.17); goodput stands for it where there was none.
var asked = []word{
	{"goodput", []string{"goodput_bps"}, true, readBits},
	{"throughput", append(slices.Clone(searched), "goodput_bps"), true, readBits},
	{"packets", inFrames, true, readFrames},
	{"loss", []string{"loss_ratio"}, false, readShare},
	{"p50", both("p50"), false, readTime},
	{"p90", both("p90"), false, readTime},
	{"p99", both("p99"), false, readTime},
	{"p99.9", both("p999"), false, readTime},
	{"max", both("max"), false, readTime},
	{"latency", both("mean"), false, readTime},
	{connect, []string{"latency_mean_ns"}, false, readTime},
	{setup, []string{trial.SetupMetric}, false, readTime},
}

// Words are what a goal may ask for, in the order in which help lists them.
func Words() (names []string) {
	for _, w := range asked {
		names = append(names, w.name)
	}
	return names
}

// protocolWords may stand before a word: the clause is then about that protocol alone.
var protocolWords = []string{trial.TCP, trial.UDP, trial.Latency, trial.TCPRR, trial.UDPRR, trial.TCPCRR, trial.HTTP}

// ParseGoal reads "throughput > 10Gbit, p99 < 200us". Its error wraps [ErrGoal] and
// names the place, as a column from 1.
func ParseGoal(text string) (Goal, error) {
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf(`%w: it is empty; write such as "goodput > 10Gbit, p99 < 200us"`, ErrGoal)
	}
	var goal Goal
	at := 0
	for _, part := range strings.SplitAfter(text, ",") {
		r := reader{text, at, at + len(strings.TrimSuffix(part, ","))}
		at += len(part)
		start := r.start()
		c, err := r.clause()
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(goal, func(other Clause) bool { return other.Word == c.Word && other.Protocol == c.Protocol }) {
			return nil, fmt.Errorf("%w, column %d: %s is asked for twice", ErrGoal, r.column(start), c.Word)
		}
		goal = append(goal, c)
	}
	return goal, nil
}

// reader reads one clause, from a byte of the goal to another.
type reader struct {
	text     string
	at, ends int
}

// column of a byte, counted in characters from 1.
func (r reader) column(at int) int { return utf8.RuneCountInString(r.text[:at]) + 1 }

func (r reader) wrong(at int, format string, args ...any) error {
	return fmt.Errorf("%w, column %d: %s", ErrGoal, r.column(at), fmt.Sprintf(format, args...))
}

// start of what is not space.
func (r reader) start() int {
	rest := r.text[r.at:r.ends]
	return r.at + len(rest) - len(strings.TrimLeft(rest, " \t"))
}

// next takes the letters, digits, points and lines that follow.
func (r *reader) next() (name string, at int) {
	at = r.start()
	end := at
	for end < r.ends && !strings.ContainsRune(" \t<>=≤≥", rune(r.text[end])) && r.text[end] < utf8.RuneSelf {
		end++
	}
	r.at = end
	return r.text[at:end], at
}

func (r *reader) clause() (c Clause, err error) {
	from := r.start()
	name, at := r.next()
	if slices.Contains(protocolWords, name) {
		if after := *r; !after.compares() {
			c.Protocol = name
			name, at = r.next()
		}
	}
	i := slices.IndexFunc(asked, func(w word) bool { return w.name == name })
	if i < 0 {
		return c, r.unknown(name, at)
	}
	w := asked[i]
	c.Word, c.Metrics = w.name, w.metrics
	at = r.start()
	if c.AtLeast, c.Strict, err = r.comparator(w); err != nil {
		return c, err
	}
	if c.AtLeast != w.more {
		return c, r.wrong(at, "%s is better the %s it is; write %s", w.name, map[bool]string{true: "more", false: "less"}[w.more], map[bool]string{true: ">", false: "<"}[w.more])
	}
	at = r.start()
	value := strings.TrimSpace(r.text[at:r.ends])
	if value == "" {
		return c, r.wrong(at, "a value is missing after %s", w.name)
	}
	if c.Bound, err = w.read(value); err != nil {
		return c, r.wrong(at, "%v", err)
	}
	if c.Bound == 0 && !w.more && c.Strict {
		return c, r.wrong(at, "nothing is below 0; write %s <= 0", w.name)
	}
	c.packetsOrBits(value)
	c.Text = strings.TrimSpace(r.text[from:r.ends])
	return c, nil
}

// compares tells whether a comparison comes next.
func (r reader) compares() bool {
	rest := r.text[r.start():r.ends]
	return rest != "" && strings.ContainsRune("<>=≤≥", []rune(rest)[0])
}

func (r reader) unknown(name string, at int) error {
	known := strings.Join(Words(), ", ")
	if name == "" {
		return r.wrong(at, "a clause is expected, such as p99 < 200us; the words are %s", known)
	}
	if near := api.Nearest(name, Words()); near != "" {
		return r.wrong(at, "%q is nothing to ask for; did you mean %q? The words are %s", name, near, known)
	}
	return r.wrong(at, "%q is nothing to ask for; the words are %s", name, known)
}

// comparators by what is written; the longer ones come first.
var comparators = []struct {
	text            string
	atLeast, strict bool
}{{">=", true, false}, {"<=", false, false}, {"≥", true, false}, {"≤", false, false}, {">", true, true}, {"<", false, true}}

func (r *reader) comparator(w word) (atLeast, strict bool, err error) {
	at := r.start()
	for _, c := range comparators {
		if strings.HasPrefix(r.text[at:r.ends], c.text) {
			r.at = at + len(c.text)
			return c.atLeast, c.strict, nil
		}
	}
	return false, false, r.wrong(at, "<, <=, > or >= is expected after %s", w.name)
}

// packetsOrBits takes a throughput that was written in frames as such.
func (c *Clause) packetsOrBits(value string) {
	if rate, err := api.ParseLoadRate(value); c.Word == "throughput" && err == nil && rate.Frames > 0 {
		c.Metrics, c.Bound = inFrames, float64(rate.Frames)
		c.frames = true
	}
}

func readBits(text string) (float64, error) {
	r, err := api.ParseLoadRate(text)
	return float64(r.Bits + r.Frames), err
}

func readFrames(text string) (float64, error) {
	r, err := api.ParseLoadRate(text)
	if err == nil && r.Bits > 0 && strings.ContainsAny(strings.ToLower(text), "bit") {
		err = fmt.Errorf("%q is not a rate of packets; write such as 100kpps", text)
	}
	return float64(r.Bits + r.Frames), err
}

func readShare(text string) (float64, error) {
	if text == "0" || text == "0%" {
		return 0, nil
	}
	share, err := api.ParseShare(text)
	return float64(share), err
}

func readTime(text string) (float64, error) {
	d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a time; write a number with a unit, such as 200us", text)
	}
	return float64(d.Nanoseconds()), nil
}
