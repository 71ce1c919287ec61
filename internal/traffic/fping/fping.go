// Package fping measures round-trip times with fping, every reply of which is
// kept, to three digits: a microsecond below a millisecond.
package fping

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"time"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// lostAfter is how long a reply is waited for.
const lostAfter = time.Second

// Tool is fping.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "fping" }

// HasNoPorts implements traffic.Portless: the packets are ICMP's.
func (Tool) HasNoPorts() {}

// ReadsWallClock implements traffic.WallClocked.
func (Tool) ReadsWallClock() {}

// Requires implements traffic.Tool.
func (Tool) Requires() []string { return []string{"tool.fping"} }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.Latency} }

// Paces implements traffic.Pacer.
func (Tool) Paces(perSecond int) error { return traffic.PacesEchoes(perSecond) }

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	count, _ := job.Echoes()
	return job.Echo(ctx, count, parse, args(job)...)
}

func args(job traffic.Job) []string {
	count, apart := job.Echoes()
	args := []string{"fping", "-c", strconv.Itoa(count), "-p", milliseconds(apart), "-t", milliseconds(lostAfter)}
	if size := job.Condition.PayloadSize; size > 0 {
		args = append(args, "-b", strconv.FormatUint(size, 10))
	}
	return append(args, job.Address.String())
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

var reply = regexp.MustCompile(`: \[(\d+)\], \d+ bytes, ([0-9.]+) ms`)

// parse finds every reply's round-trip time, in nanoseconds. A reply that came
// twice counts once.
func parse(text []byte) []int64 {
	var times []int64
	seen := map[string]bool{}
	for line := range bytes.Lines(text) {
		m := reply.FindSubmatch(line)
		if m == nil || seen[string(m[1])] {
			continue
		}
		seen[string(m[1])] = true
		if ns, believed := traffic.RoundTrip(m[2]); believed {
			times = append(times, ns)
		}
	}
	return times
}
