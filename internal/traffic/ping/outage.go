package ping

import (
	"bytes"
	"regexp"
	"strconv"
	"time"

	"nfchain.dev/nfchain/internal/traffic"
)

// stamped is a reply; ping prints the errors that routers tell of a request with its number too.
var stamped = regexp.MustCompile(`^\[(\d+)\.(\d{6})\] \d+ bytes from .*icmp_seq=(\d+) .*time=`)

// outage adds the longest time between two replies that ping printed with their times. Where the last requests have none,
// nobody knows how much longer it would have been: then it says so instead.
func outage(s *traffic.Sample, text []byte, count int, apart time.Duration) {
	var longest, before time.Duration
	last := 0
	for line := range bytes.Lines(text) {
		m := stamped.FindSubmatch(line)
		if m == nil || bytes.Contains(line, []byte("DUP!")) {
			continue
		}
		at, due := when(m[1], m[2]), 0
		if before > 0 {
			due = last + int((at-before)/apart)
			longest = max(longest, at-before-apart)
		}
		number := wide(m[3], due)
		before, last = at, max(last, number)
	}
	if open := time.Duration(count-last) * apart; open > longest {
		s.Warnings = append(s.Warnings, "the last "+strconv.Itoa(count-last)+" requests have no reply: what the chain lost had not come back when the trial was over")
		return
	}
	s.Metrics[traffic.OutageMetric] = float64(longest)
}

// when a reply came, of the seconds and microseconds that are printed.
func when(seconds, micros []byte) time.Duration {
	s, _ := strconv.ParseInt(string(seconds), 10, 64) // they are digits
	us, _ := strconv.ParseInt(string(micros), 10, 64)
	return time.Duration(s)*time.Second + time.Duration(us)*time.Microsecond
}

// sequences are how many numbers a request can have.
const sequences = 1 << 16

// wide is the number of a request, which is printed without how often they began anew, nearest to the one whose reply was due.
func wide(printed []byte, due int) int {
	n, _ := strconv.Atoi(string(printed)) // they are digits
	return n + max(0, due-n+sequences/2)/sequences*sequences
}
