// Package ping measures round-trip times with the system's ping, every reply of
// which is kept, to a microsecond.
package ping

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// smallest payload in which ping can send the time along.
const smallest = 16

// Tool is ping.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "ping" }

// HasNoPorts implements traffic.Portless: the packets are ICMP's.
func (Tool) HasNoPorts() {}

// ReadsWallClock implements traffic.WallClocked.
func (Tool) ReadsWallClock() {}

// Requires implements traffic.Tool.
func (Tool) Requires() []string { return []string{"tool.ping"} }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.Latency} }

// Paces implements traffic.Pacer.
func (Tool) Paces(perSecond int) error { return traffic.PacesEchoes(perSecond) }

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	c := job.Condition
	count, apart := job.Echoes()
	var printed []byte
	keep := func(text []byte) []int64 {
		printed = text
		return parse(text)
	}
	s, err := job.Echo(ctx, count, keep, args(job)...)
	if err == nil && c.Harm != "" {
		outage(&s, printed, count, apart)
	}
	if err == nil && c.PayloadSize > 0 && c.PayloadSize < smallest {
		s.Warnings = append(s.Warnings, fmt.Sprintf("ping measures times only from payloads of %d bytes: that size was sent", smallest))
	}
	return s, err
}

func args(job traffic.Job) []string {
	count, apart := job.Echoes()
	args := []string{"ping", "-n", "-i", strconv.FormatFloat(apart.Seconds(), 'f', -1, 64), "-c", strconv.Itoa(count), "-W", "1"}
	if job.Condition.Harm != "" {
		args = append(args, "-D")
	}
	if size := job.Condition.PayloadSize; size > 0 {
		args = append(args, "-s", strconv.FormatUint(max(size, smallest), 10))
	}
	return append(args, job.Address.String())
}

var reply = regexp.MustCompile(`icmp_seq=\d+ .*time=([0-9.]+) ms`)

// parse finds every reply's round-trip time, in nanoseconds. A reply that came
// twice counts once.
func parse(text []byte) []int64 {
	var times []int64
	for line := range bytes.Lines(text) {
		m := reply.FindSubmatch(line)
		if m == nil || bytes.Contains(line, []byte("DUP!")) {
			continue
		}
		if ns, believed := traffic.RoundTrip(m[1]); believed {
			times = append(times, ns)
		}
	}
	return times
}
