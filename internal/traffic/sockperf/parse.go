package sockperf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/words"
)

// messages are those of sockperf's log, in the order in which they were sent.
type messages struct {
	// roundTrips in nanoseconds.
	roundTrips []int64
	// first and last are when the first was sent and the last came back, in
	// nanoseconds of sockperf's clock.
	first, last int64
}

func (m messages) seconds() float64 { return float64(m.last-m.first) / 1e9 }

// parse reads sockperf's full log: after its heading, each line is a message's
// number and the times it left and came back, in seconds. The difference is the
// round trip; the log's last column depends on sockperf's options and is not read.
func parse(log io.Reader) (messages, error) {
	var m messages
	scan := bufio.NewScanner(log)
	heading := false
	for scan.Scan() {
		line := scan.Text()
		if strings.HasPrefix(line, "packet, txTime") {
			heading = true
			continue
		}
		if !heading || strings.TrimSpace(line) == "" || strings.HasPrefix(line, "-") {
			continue
		}
		sent, back, ok := message(line)
		if !ok {
			return m, fmt.Errorf("sockperf's log has a line that is not a message: %q", words.Excerpt([]byte(line)))
		}
		if len(m.roundTrips) == 0 {
			m.first = sent
		}
		m.last = back
		m.roundTrips = append(m.roundTrips, back-sent)
	}
	if err := scan.Err(); err != nil {
		return m, fmt.Errorf("read sockperf's log: %w", err)
	}
	if !heading {
		return m, errors.New("sockperf's log has no messages")
	}
	return m, nil
}

// message reads a line of the log: when it was sent and when it came back.
func message(line string) (sent, back int64, ok bool) {
	f := strings.Split(line, ",")
	if len(f) < 3 {
		return 0, 0, false
	}
	sent, errSent := nanoseconds(f[1])
	back, errBack := nanoseconds(f[2])
	return sent, back, errSent == nil && errBack == nil && sent >= 0 && back >= sent
}

// nanoseconds of a decimal number of seconds, exact where a float would round.
func nanoseconds(text string) (int64, error) {
	whole, fraction, _ := strings.Cut(strings.TrimSpace(text), ".")
	fraction = fraction[:min(len(fraction), 9)]
	return strconv.ParseInt(whole+fraction+strings.Repeat("0", 9-len(fraction)), 10, 64)
}
