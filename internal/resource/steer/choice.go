package steer

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/pass/rules"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// Choice of the path of a flow, by its first packet.
type Choice struct {
	// Rules, of which the first that matches says the path.
	Rules []Rule `json:"rules"`
	// Otherwise is the path of flows that none matches; with Drop they end where they come in.
	Otherwise string `json:"otherwise,omitempty"`
	Drop      bool   `json:"drop,omitempty"`
}

// Of gives the place of the rule that a flow meets, or that of all of them, and its path; false where
// its packets end.
func (c Choice) Of(f First) (rule int, path string, goes bool) {
	rule = slices.IndexFunc(c.Rules, func(r Rule) bool { return r.Matches(f) })
	if rule < 0 && !f.Opens {
		back := f.turned()
		rule = slices.IndexFunc(c.Rules, func(r Rule) bool { return r.Matches(back) })
	}
	if rule >= 0 {
		return rule, c.Rules[rule].Path, true
	}
	return len(c.Rules), c.Otherwise, !c.Drop
}

// digest names what is chosen, by paths of these numbers.
func (c Choice) digest(numbers map[string]int) [digestSize]byte {
	text, err := json.Marshal(struct {
		Choice
		Numbers map[string]int
	}{c, numbers})
	if err != nil {
		panic(err) // rules are plain data
	}
	sum := sha256.Sum256(text)
	return [digestSize]byte(sum[:digestSize])
}

const digestSize = 8

// choiceHeader begins the rules in the memory of a program, as bpf/classify/classify.c has it. What
// programs do not read follows.
type choiceHeader struct {
	Table, Rows, Targets, Codes, Tags, Untagged uint32
	Sides                                       [2]uint32
	First, Generation                           uint32
	Idle                                        uint64
	Digest                                      [digestSize]byte
	Rules                                       uint32
	Size                                        uint32
}

// target of a row.
type target struct{ Path, Check, Rule, Unused uint32 }

// mostMemory is as much as all areas of a memory may take.
const mostMemory = rules.MostBytes

// compile rules into what programs search, wherever it lies. Numbers are those of paths.
func (c Choice) compile(numbers map[string]int, idle time.Duration) ([]byte, error) {
	rows, of := c.rows()
	k, err := c.kinds()
	if err != nil {
		return nil, err
	}
	table, err := rules.Classify(rows, k.all(), func(row, kind int) bool { return k.fits(c.Rules[of[row]], kind) }, mostMemory/leastAreas)
	if err != nil {
		return nil, err
	}
	h := choiceHeader{Rows: uint32(len(rows)), Idle: uint64(idle), Digest: c.digest(numbers), Rules: uint32(len(c.Rules))}
	h.Generation = binary.BigEndian.Uint32(h.Digest[:]) | 1 // unlike others', and never 0
	targets := make([]target, 0, len(rows)+1)
	for _, rule := range of {
		targets = append(targets, targetOf(c.Rules[rule].Path, numbers, rule))
	}
	last := targetOf(c.Otherwise, numbers, len(c.Rules))
	if c.Drop {
		last.Path = 0
	}
	targets = append(targets, last)
	var b bytes.Buffer
	b.Write(make([]byte, held.Rounded(binary.Size(h))))
	place := func(v any) uint32 {
		b.Write(make([]byte, held.Rounded(b.Len())-b.Len()))
		at := b.Len()
		if err := binary.Write(&b, binary.NativeEndian, v); err != nil {
			panic(err) // it is plain data
		}
		return uint32(at)
	}
	h.Codes, h.Tags, h.Untagged, h.Sides = place(k.codes), place(k.tags[:api.Untagged]), uint32(k.tags[api.Untagged]), k.sides
	h.Targets, h.Table = place(targets), place(table.Memory())
	h.Size = uint32(held.Rounded(b.Len()))
	b.Write(make([]byte, int(h.Size)-b.Len()))
	return h.over(b.Bytes()), nil
}

func targetOf(path string, numbers map[string]int, rule int) target {
	return target{Path: uint32(numbers[path]), Check: checkOf(path), Rule: uint32(rule + 1)}
}

// over the beginning of rules.
func (h choiceHeader) over(memory []byte) []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.NativeEndian, h); err != nil {
		panic(err) // it is plain data
	}
	copy(memory, b.Bytes())
	return memory
}

func headerOf(memory []byte) (h choiceHeader, err error) {
	err = binary.Read(bytes.NewReader(memory), binary.NativeEndian, &h)
	return h, err
}

func digestText(d [digestSize]byte) string { return hex.EncodeToString(d[:]) }

// checkOf a path tells it from others that have had its number.
func checkOf(path string) uint32 {
	sum := sha256.Sum256([]byte(path))
	return binary.BigEndian.Uint32(sum[:])
}

// rows are the rules with one value in each field, and which rule each is of.
func (c Choice) rows() (rows []ruleset.Rule, of []int) {
	for i, r := range c.Rules {
		for _, source := range orNone(r.Sources) {
			for _, destination := range orNone(r.Destinations) {
				if source.IsValid() && destination.IsValid() && source.Addr().Is4() != destination.Addr().Is4() {
					continue
				}
				for _, from := range orNone(r.SourcePorts) {
					for _, to := range orNone(r.DestinationPorts) {
						m := ruleset.Match{Source: source, Destination: destination, Protocol: numberOf(r.Protocol), Family: r.Protocol.Version(),
							SourcePorts: ruleset.Ports(from), DestinationPorts: ruleset.Ports(to)}
						rows, of = append(rows, ruleset.Rule{Match: m}), append(of, i)
					}
				}
			}
		}
	}
	return rows, of
}

// numberOf a protocol, as a table of rules takes it; "" is any.
func numberOf(p api.Protocol) string {
	if p == "" {
		return ""
	}
	n, _ := p.Number() // a plan has checked it
	return strconv.Itoa(int(n))
}

// orNone are values, or the one that stands for all.
func orNone[T any](all []T) []T {
	if len(all) == 0 {
		return make([]T, 1)
	}
	return all
}

// kinds of packets that rules tell apart by other fields than addresses, ports and protocol. Each
// value of such a field has a number; the sum of all fields' is that of the kind.
type kinds struct {
	codes [64]uint16
	tags  [api.Untagged + 1]uint16
	sides [2]uint32
	// some value of each number, with these steps.
	codeOf []uint8
	tagOf  []uint16
	ends   int
}

func (c Choice) kinds() (*kinds, error) {
	k := &kinds{ends: 1}
	codes, tags := make([][]byte, len(k.codes)), make([][]byte, len(k.tags))
	note := func(at *[]byte, rule int) { *at = binary.LittleEndian.AppendUint32(*at, uint32(rule)) }
	for i, r := range c.Rules {
		for _, code := range r.CodePoints {
			note(&codes[code&63], i)
		}
		for _, v := range r.VLANs {
			for tag := int(v.First); tag <= min(int(v.Last), api.Untagged); tag++ {
				note(&tags[tag], i)
			}
		}
		if r.From != 0 {
			k.ends = 2
		}
	}
	of := numbered(tags)
	for tag, n := range of {
		k.tags[tag] = uint16(n)
		if n == len(k.tagOf) {
			k.tagOf = append(k.tagOf, uint16(tag))
		}
	}
	for code, n := range numbered(codes) {
		if n == len(k.codeOf) {
			k.codeOf = append(k.codeOf, uint8(code))
		}
		k.codes[code] = uint16(n * len(k.tagOf))
	}
	if k.ends == 2 {
		k.sides[1] = uint32(len(k.codeOf) * len(k.tagOf))
	}
	if k.all() > math.MaxUint16 {
		return nil, fmt.Errorf("rules tell %d code points, %d VLANs and %d ends apart, which are %d kinds of packets, and there can be %d; name fewer of them", len(k.codeOf), len(k.tagOf), k.ends, k.all(), math.MaxUint16)
	}
	return k, nil
}

// numbered gives values numbers, those of which the same was noted the same one.
func numbered(noted [][]byte) []int {
	known, all := map[string]int{}, make([]int, len(noted))
	for i, n := range noted {
		number, is := known[string(n)]
		if !is {
			number = len(known)
			known[string(n)] = number
		}
		all[i] = number
	}
	return all
}

// all is how many there are.
func (k *kinds) all() int { return k.ends * len(k.codeOf) * len(k.tagOf) }

// fits tells whether packets of a kind may meet a rule.
func (k *kinds) fits(r Rule, kind int) bool {
	tag := k.tagOf[kind%len(k.tagOf)]
	kind /= len(k.tagOf)
	code, end := k.codeOf[kind%len(k.codeOf)], kind/len(k.codeOf)+1
	return anyOr(r.CodePoints, func(c uint8) bool { return c == code }) &&
		anyOr(r.VLANs, func(v api.VLANRange) bool { return v.First <= tag && tag <= v.Last }) && (r.From == 0 || r.From == end)
}
