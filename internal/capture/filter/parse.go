package filter

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/bpf"
)

// parser reads an expression word by word.
type parser struct {
	words []string
	at    int
	names map[string][]netip.Addr
	// before are what was said of the last value; one of which nothing is said has the same.
	before qualifiers
}

// qualifiers say what a value is.
type qualifiers struct {
	protocol string
	side     side
	// kind is host, net, port, portrange or proto.
	kind string
}

// marks are words that need no space around them.
var marks = []string{"(", ")", "!", "&&", "||"}

func split(expression string) []string {
	for _, mark := range marks {
		expression = strings.ReplaceAll(expression, mark, " "+mark+" ")
	}
	return strings.Fields(expression)
}

// peek at the next word, empty at the end.
func (p *parser) peek() string {
	if p.at == len(p.words) {
		return ""
	}
	return p.words[p.at]
}

func (p *parser) next() string {
	word := p.peek()
	if word != "" {
		p.at++
	}
	return word
}

// take the next word if it is one of these.
func (p *parser) take(words ...string) bool {
	is := p.peek() != "" && slices.Contains(words, p.peek())
	if is {
		p.at++
	}
	return is
}

// all reads the whole.
func (p *parser) all() (node, error) {
	n, err := p.conditions()
	if err == nil && p.peek() != "" {
		err = fmt.Errorf("%q is not expected there; join conditions by and, or", p.peek())
	}
	return n, err
}

// conditions joined by and, or, which bind alike, and from the left.
func (p *parser) conditions() (node, error) {
	left, err := p.condition()
	for err == nil {
		var right node
		switch {
		case p.take("and", "&&"):
			right, err = p.condition()
			left = every{left, right}
		case p.take("or", "||"):
			right, err = p.condition()
			left = some{left, right}
		default:
			return left, nil
		}
	}
	return nil, err
}

func (p *parser) condition() (node, error) {
	switch {
	case p.peek() == "":
		return nil, errors.New("it ends where a condition is expected")
	case p.take("not", "!"):
		n, err := p.condition()
		return not{n}, err
	case p.take("("):
		n, err := p.conditions()
		if err == nil && !p.take(")") {
			err = errors.New("a ) is missing")
		}
		return n, err
	case p.take("less"):
		return p.length(bpf.JumpLessOrEqual)
	case p.take("greater"):
		return p.length(bpf.JumpGreaterOrEqual)
	}
	return p.primitive()
}

// length of a packet, itself included.
func (p *parser) length(cond bpf.JumpTest) (node, error) {
	n, err := number(p.next(), 32)
	return test{[]bpf.Instruction{bpf.LoadExtension{Num: bpf.ExtLen}}, cond, n}, err
}

// primitive is a protocol by itself, or a value with what is said of it.
func (p *parser) primitive() (node, error) {
	var q qualifiers
	if _, is := protocols[p.peek()]; is {
		q.protocol = p.next()
	}
	switch {
	case p.take("src"):
		q.side = source
	case p.take("dst"):
		q.side = destination
	}
	if _, is := kinds[p.peek()]; is {
		q.kind = p.next()
	}
	switch {
	case q.side != either || q.kind != "":
	case q.protocol != "":
		return protocols[q.protocol], nil
	default:
		q = p.before
	}
	if p.peek() == "" || p.peek() == ")" {
		return nil, fmt.Errorf("nothing follows %q", p.words[max(0, p.at-1)])
	}
	if q.kind == "" {
		q.kind = "host"
	}
	p.before = q
	return kinds[q.kind](p, q, p.next())
}

// protocols are conditions by themselves.
var protocols = map[string]node{
	"ip": isIP, "ip6": isIP6, "arp": isARP, "rarp": isRARP,
	"tcp": some{carries6(tcp), carries4(tcp)}, "udp": some{carries6(udp), carries4(udp)}, "sctp": some{carries6(sctp), carries4(sctp)},
	"icmp": carries4(icmp), "icmp6": carries6(icmp6),
}

// kinds of values.
var kinds = map[string]func(p *parser, q qualifiers, value string) (node, error){
	"host": host, "net": net, "port": portrange, "portrange": portrange, "proto": proto,
}

func number(word string, bits int) (uint32, error) {
	n, err := strconv.ParseUint(word, 0, bits)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number from 0 to %d", word, uint64(1)<<bits-1)
	}
	return uint32(n), nil
}
