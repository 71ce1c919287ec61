package told

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a file may have at most.
const (
	mostBytes  = 256 << 10
	mostValues = 2000
	mostLabels = 16
	// longest is how many bytes a name, a label's value or a help may have.
	longest = 200
)

// The types of families.
const (
	Counter = "counter"
	Gauge   = "gauge"
	Unknown = "unknown"
)

// Labels of a value, by name.
type Labels map[string]string

// Reserved are labels that say whose a value is, and so no program's.
var Reserved = []string{"chain", "node", "function"}

// Parse reads a text of counters and gauges in Prometheus' text format, version 0.0.4, as collectors of text files take it, or
// in OpenMetrics'. Moments of samples are left out.
func Parse(text []byte) ([]Family, error) {
	if len(text) > mostBytes {
		return nil, fmt.Errorf("it is longer than %d bytes", mostBytes)
	}
	p := parser{families: []Family{}, at: map[string]int{}, seen: map[string]bool{}}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if err := p.line(strings.Trim(string(line), " \t\r\n")); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return p.named()
}

// total is how a counter's name ends.
const total = "_total"

// named families are those with values, and with names by which collectors tell them apart: they leave out how a counter's ends.
func (p *parser) named() ([]Family, error) {
	all := slices.DeleteFunc(p.families, func(f Family) bool { return len(f.Values) == 0 })
	stems := map[string]string{}
	for i, f := range all {
		stem := strings.TrimSuffix(f.Name, total)
		if stem == "" {
			return nil, fmt.Errorf("%s leaves no name to a collector; write one before it", f.Name)
		}
		if other, twice := stems[stem]; twice {
			return nil, fmt.Errorf("%s and %s are the same to a collector; call one of them otherwise", other, f.Name)
		}
		stems[stem] = f.Name
		if f.Type == Counter {
			all[i].Name = stem + total
		}
	}
	return all, nil
}

// parser is what is known of the lines so far.
type parser struct {
	families []Family
	// at is each family's place by name, seen the values that there are.
	at     map[string]int
	seen   map[string]bool
	values int
}

func (p *parser) line(line string) error {
	if comment, is := strings.CutPrefix(line, "#"); is {
		return p.comment(comment)
	}
	if line == "" {
		return nil
	}
	return p.sample(line)
}

// comment may say what a family is, or mean nothing.
func (p *parser) comment(text string) error {
	what, rest := word(text)
	if what != "HELP" && what != "TYPE" {
		return nil
	}
	name, rest := word(rest)
	if err := checkName(name, ":"); err != nil {
		return err
	}
	f, err := p.family(name)
	if err != nil {
		return err
	}
	if what == "HELP" {
		help, err := unescape(rest)
		if err != nil {
			return fmt.Errorf("help of %s: %w", name, err)
		}
		f.Help = help
		return nil
	}
	switch {
	case len(f.Values) > 0:
		return fmt.Errorf("the type of %s comes behind its values", name)
	case rest == Counter || rest == Gauge:
		f.Type = rest
	case rest == Unknown || rest == "untyped":
		f.Type = Unknown
	default:
		return fmt.Errorf("%s is of type %s; tell counters and gauges", name, quote(rest))
	}
	return nil
}

// ours is how nfchain's own metrics begin.
const ours = "nfchain_"

// family of a name, which is there from now on. A counter of OpenMetrics has its name without the end that its values have.
func (p *parser) family(name string) (*Family, error) {
	if strings.HasPrefix(name+"_", ours) { // a counter's may get an end
		return nil, fmt.Errorf("%s: what begins with %s is nfchain's own; call it otherwise", name, ours)
	}
	i, there := p.at[name]
	if stem, ends := strings.CutSuffix(name, total); !there && ends {
		if i, there = p.at[stem]; there && p.families[i].Type == Counter && len(p.families[i].Values) == 0 {
			delete(p.at, stem)
			p.families[i].Name, p.at[name] = name, i
		} else {
			there = false
		}
	}
	if !there {
		if len(p.families) == mostValues {
			return nil, fmt.Errorf("there are more than %d families", mostValues)
		}
		i = len(p.families)
		p.at[name] = i
		p.families = append(p.families, Family{Name: name, Type: Unknown, Values: []Value{}})
	}
	return &p.families[i], nil
}

// sample is a name, labels, and a value.
func (p *parser) sample(line string) error {
	end := strings.IndexAny(line, "{ \t")
	if end < 0 {
		end = len(line)
	}
	name, rest := line[:end], line[end:]
	if err := checkName(name, ":"); err != nil {
		return err
	}
	labels := Labels{}
	if inside, braced := strings.CutPrefix(rest, "{"); braced {
		var err error
		if labels, rest, err = readLabels(inside); err != nil {
			return fmt.Errorf("labels of %s: %w", name, err)
		}
	}
	fields := strings.Fields(rest)
	if len(fields) != 1 && len(fields) != 2 {
		return fmt.Errorf("%s has no value; write a number behind its name and labels", name)
	}
	value, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("the value of %s is %s; write a number", name, quote(fields[0]))
	}
	f, err := p.family(name)
	if err != nil {
		return err
	}
	if f.Type == Counter && value < 0 {
		return fmt.Errorf("%s is a counter, and %s is less than 0", name, quote(fields[0]))
	}
	if p.values++; p.values > mostValues {
		return fmt.Errorf("there are more than %d values", mostValues)
	}
	if same := name + labels.Text(); p.seen[same] {
		return fmt.Errorf("%s is there twice", quote(same))
	} else {
		p.seen[same] = true
	}
	f.Values = append(f.Values, Value{Labels: labels, Value: value})
	return nil
}

// readLabels of a value, behind their brace, and what comes behind them.
func readLabels(text string) (labels Labels, rest string, err error) {
	labels = Labels{}
	for n, seen := 0, map[string]bool{}; ; n++ {
		text = strings.TrimLeft(text, " \t")
		if rest, ends := strings.CutPrefix(text, "}"); ends {
			return labels, rest, nil
		}
		name, behind, is := strings.Cut(text, "=")
		name = strings.TrimRight(name, " \t")
		if !is {
			return nil, "", fmt.Errorf("%s is no label; write name=\"value\"", quote(text))
		}
		if err := checkName(name, ""); err != nil {
			return nil, "", err
		}
		if slices.Contains(Reserved, name) || strings.HasPrefix(name, "__") {
			return nil, "", fmt.Errorf("label %s is not a program's to give; call it otherwise", name)
		}
		quoted, is := strings.CutPrefix(strings.TrimLeft(behind, " \t"), `"`)
		end := closing(quoted)
		if !is || end < 0 {
			return nil, "", fmt.Errorf("the value of label %s has no quotation marks around it", name)
		}
		value, err := unescape(quoted[:end])
		if err != nil {
			return nil, "", fmt.Errorf("label %s: %w", name, err)
		}
		if seen[name] {
			return nil, "", fmt.Errorf("label %s is there twice", name)
		}
		if n == mostLabels {
			return nil, "", fmt.Errorf("there are more than %d", mostLabels)
		}
		if seen[name] = true; value != "" { // which is the same as none, to collectors
			labels[name] = value
		}
		text = strings.TrimLeft(quoted[end+1:], " \t")
		if next, more := strings.CutPrefix(text, ","); more {
			text = next
		} else if !strings.HasPrefix(text, "}") {
			return nil, "", fmt.Errorf("%s comes behind label %s; write a comma or }", quote(text), name)
		}
	}
}

// closing is where a text's quotation mark ends it, which none with a backslash before it does; -1 where none does.
func closing(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// unescape a text of which backslashes, quotation marks and ends of lines have a backslash, and want it to be one that can be shown to anybody: a
// terminal takes others for commands.
func unescape(text string) (string, error) {
	text = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, " ").Replace(text)
	switch {
	case len(text) > longest:
		return "", fmt.Errorf("it is longer than %d bytes", longest)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", fmt.Errorf("%s cannot be printed", quote(text))
	}
	return text, nil
}

// checkName wants letters, digits, _ and what else may be in a name.
func checkName(name, also string) error {
	ok := name != "" && len(name) <= longest && (name[0] < '0' || name[0] > '9')
	for _, c := range []byte(name) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || strings.IndexByte(also, c) >= 0)
	}
	if !ok {
		return fmt.Errorf("%s is not a name; use letters, digits and _, not a digit first", quote(name))
	}
	return nil
}

// word is the first of a text, and what is behind it.
func word(text string) (first, rest string) {
	text = strings.TrimLeft(text, " \t")
	end := strings.IndexAny(text, " \t")
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimLeft(text[end:], " \t")
}

// quote the beginning of a text of somebody else's.
func quote(text string) string {
	const enough = 40
	if len(text) > enough {
		return strconv.QuoteToASCII(text[:enough]) + "…"
	}
	return strconv.QuoteToASCII(text)
}
