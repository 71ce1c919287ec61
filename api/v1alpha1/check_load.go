package v1alpha1

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nfchain.dev/nfchain/api/v1alpha1/internal/nearest"
	"nfchain.dev/nfchain/api/v1alpha1/internal/strict"
)

// The largest payloads: of a UDP datagram over IPv4 (RFC 768, RFC 791: 65,535
// less 28 bytes of headers), and of one send otherwise, as iperf3 has it.
const (
	maxDatagram = 65507
	maxPayload  = 1 << 20
)

// maxMessage is the largest request or response over TCP.
const maxMessage = 64 << 20

// maxObject is the largest object that the tool's own web server has.
const maxObject = 1 << 40

const maxDuration = 24 * time.Hour

// CheckLoad validates a load whatever it was made from, a file or flags. Paths
// are the fields' JSON names.
func (c Catalogue) CheckLoad(l Load) []FieldProblem {
	var f findings
	strict.Check(&l, f.add)
	f.add("tool", unknown(l.Tool, "traffic tool", c.tools()))
	f.under("protocols", checkProtocols(l.Protocols))
	f.add("payload_size", checkPayload(l.PayloadSize, l.Protocols))
	f.add("zerocopy", checkZerocopy(l.Zerocopy, l.Protocols))
	f = append(f, l.checkMessages(l.Protocols)...)
	f = append(f, l.checkTransactions()...)
	f = append(f, l.checkWeb()...)
	switch d := time.Duration(l.Duration); {
	case d <= 0:
		f.addf("duration", "a trial must take some time; write a duration such as 5s")
	case d > maxDuration:
		f.addf("duration", "%s is longer than a trial may take, %s", l.Duration, maxDuration)
	}
	if l.FrameSize > 0 && l.IMIX != "" {
		f.addf("imix", "frame_size is given too; a load has frames of one size or a mix")
	}
	if l.IPVersion == 5 {
		f.addf("ip_version", "5 is no version in use; write 4 or 6")
	}
	if l.Search != nil && l.Rate != (LoadRate{}) {
		f.addf("search", "rate is given too; a load is either given or searched for")
	}
	f.under("search", checkSearch(l.Search))
	f.add("harm", checkHarm(l.Harm))
	f.add("affinity", AffinityProblem(l.Affinity))
	return append(f, checkRepetition(l)...)
}

// nothing is said by these fields when they are left out, and nothing can be meant by 0.
var nothing = []struct {
	field, instead string
	is             func(Load) bool
}{
	{"payload_size", "the tool's own", func(l Load) bool { return l.PayloadSize == 0 }},
	{"request_size", "1 byte", func(l Load) bool { return l.RequestSize == 0 }},
	{"response_size", "1 byte", func(l Load) bool { return l.ResponseSize == 0 }},
	{"rate", "as much as the tool can", func(l Load) bool { return l.Rate == LoadRate{} }},
}

// checkNothing refuses fields that a document gives as 0, which would be taken as not given.
func (l Load) checkNothing(at place) []FieldProblem {
	var f findings
	for _, n := range nothing {
		if n.is(l) && at.has(n.field) && !at.lost(n.field) {
			f.addf(n.field, "0 cannot be had; leave it out for %s", n.instead)
		}
	}
	return f
}

func checkProtocols(given []string) []FieldProblem {
	var f findings
	if len(given) == 0 {
		f.add("", "no protocol is given"+nearest.Hint("", protocols))
	}
	for i, p := range given {
		if slices.Contains(given[:i], p) {
			f.addf(item("", i), "%s is already given", quote(p))
		}
	}
	return f
}

func checkPayload(size Size, protocols []string) string {
	// Among other protocols, latency has a size of its own.
	inDatagrams := slices.Contains(protocols, "udp") || slices.Equal(protocols, []string{protocolLatency})
	switch {
	case inDatagrams && size > maxDatagram:
		return fmt.Sprintf("%d bytes do not fit in a UDP datagram; at most %d", uint64(size), maxDatagram)
	case size > maxPayload:
		return fmt.Sprintf("%d bytes are too many for one send; at most %d", uint64(size), maxPayload)
	}
	return ""
}

// checkZerocopy refuses it where nothing is sent that sendfile(2) can send.
func checkZerocopy(on bool, protocols []string) string {
	if !on || len(protocols) == 0 || slices.Contains(protocols, "tcp") {
		return ""
	}
	return "only tcp has it, whose streams sendfile sends; leave it out, or add tcp"
}

// checkMessages validates the sizes of messages, where there are transactions.
func (m Messages) checkMessages(protocols []string) []FieldProblem {
	var f findings
	f.add("request_size", checkMessage(m.RequestSize, protocols))
	f.add("response_size", checkAnswer(m.ResponseSize, protocols))
	if m.BusyLoop && !hasTransactions(protocols) {
		f.addf("busy_loop", "only transactions have it: %s", strings.Join(transactions, ", "))
	}
	return f
}

// checkTransactions refuses what says nothing where there are transactions alone.
func (l Load) checkTransactions() []FieldProblem {
	var f findings
	if len(l.Protocols) == 0 || slices.ContainsFunc(l.Protocols, func(p string) bool { return !slices.Contains(transactions, p) }) {
		return nil
	}
	if l.PayloadSize > 0 {
		f.addf("payload_size", "transactions have a request_size and a response_size")
	}
	if l.Rate != (LoadRate{}) {
		f.addf("rate", "transactions follow one another; their rate is what is measured")
	}
	return f
}

// checkAnswer validates the size of what answers a request, which web servers have too.
func checkAnswer(size Size, protocols []string) string {
	switch {
	case hasTransactions(protocols) || !slices.Contains(protocols, protocolHTTP):
		return checkMessage(size, protocols)
	case size > maxObject:
		return fmt.Sprintf("%d bytes are too many for one object; at most %d", uint64(size), uint64(maxObject))
	}
	return ""
}

func checkMessage(size Size, protocols []string) string {
	switch {
	case size == 0:
		return ""
	case !hasTransactions(protocols):
		return "only transactions have it: " + strings.Join(transactions, ", ")
	case slices.Contains(protocols, protocolUDPRR) && size > maxDatagram:
		return fmt.Sprintf("%d bytes do not fit in a UDP datagram; at most %d", uint64(size), maxDatagram)
	case size > maxMessage:
		return fmt.Sprintf("%d bytes are too many for one message; at most %d", uint64(size), maxMessage)
	}
	return ""
}

func hasTransactions(protocols []string) bool {
	return slices.ContainsFunc(protocols, func(p string) bool { return slices.Contains(transactions, p) })
}

// AffinityProblem says what is wrong with the affinity of a load; "" where nothing is.
func AffinityProblem(text string) string {
	if text == AffinityNone || text == AffinitySpread {
		return ""
	}
	for _, list := range strings.SplitN(text, "/", 2) {
		if _, err := ParseCPUList(list); err != nil {
			return quote(text) + " is not an affinity; write none, spread, a list of CPUs such as 0,2-3, or a list for each end: 0/1"
		}
	}
	return ""
}

// checkQuick validates what the load becomes under --quick, and leaves out what
// is wrong with the load itself. What does not go together may stand at a field that only
// the load has.
func (c Catalogue) checkQuick(load, quick Load, at place) []FieldProblem {
	var f findings
	own := c.CheckLoad(load)
	for _, p := range c.CheckLoad(load.With(quick)) {
		switch {
		case at.has(p.Path):
			f.add(p.Path, p.Message)
		case at.sound() && !slices.Contains(own, p):
			f.add("", "does not go with load."+p.Path+": "+p.Message)
		}
	}
	f = append(f, quick.checkNothing(at)...)
	if quick.Duration == 0 && at.has("duration") {
		f.addf("duration", "a trial must take some time; write a duration such as 1s")
	}
	return f
}
