// Package sockperf measures round-trip times of single UDP messages with
// sockperf's ping-pong, every message of which is kept.
package sockperf

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// smallest message that sockperf sends.
const smallest = 14

// Tool is sockperf.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "sockperf" }

// Requires implements traffic.Tool.
func (Tool) Requires() []string { return []string{"tool.sockperf"} }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.Latency} }

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	ctx, cancel := traffic.Deadline(ctx, job.Condition.DurationS)
	defer cancel()
	dir, err := os.MkdirTemp("", "nfchain-sockperf-")
	if err != nil {
		return traffic.Sample{}, err
	}
	defer os.RemoveAll(dir)
	log := filepath.Join(dir, "messages.csv")

	server, err := traffic.Start(ctx, job.ServerNetns, job.ServerNode, job.Started,
		bound(job, []string{"sockperf", "server", "-i", job.Address.String(), "-p", strconv.Itoa(job.FirstPort)})...)
	if err != nil {
		return traffic.Sample{}, err
	}
	defer server.Kill()
	ready := func(pid int) bool { return netns.BoundUDP(pid, job.FirstPort) }
	if err := server.Until(ctx, "it does not have its UDP port", ready); err != nil {
		return traffic.Sample{}, err
	}
	client, err := traffic.Start(ctx, job.ClientNetns, job.ClientNode, job.Started, bound(job, clientArgs(job, log))...)
	if err != nil {
		return traffic.Sample{}, err
	}
	defer client.Kill()
	if err := client.Wait(ctx); err != nil {
		return traffic.Sample{}, err
	}
	text, err := os.ReadFile(log)
	if err != nil {
		return traffic.Sample{}, fmt.Errorf("sockperf wrote no log: %w: %q", err, traffic.Excerpt(string(client.Stdout())))
	}
	return sample(text, client)
}

func clientArgs(job traffic.Job, log string) []string {
	c := job.Condition
	args := []string{"sockperf", "ping-pong", "-i", job.Address.String(), "-p", strconv.Itoa(job.FirstPort),
		"-t", strconv.Itoa(max(1, int(math.Ceil(c.DurationS)))), "--full-log", log, "--full-rtt"}
	if c.PayloadSize > 0 {
		args = append(args, "-m", strconv.FormatUint(max(c.PayloadSize, smallest), 10))
	}
	return args
}

// bound runs a command on the condition's cores; sockperf's own option takes one
// of its threads only.
func bound(job traffic.Job, args []string) []string {
	cores := traffic.Cores(job.Condition.Affinity, runtime.NumCPU())
	if len(cores) == 0 {
		return args
	}
	list := make([]string, len(cores))
	for i, c := range cores {
		list[i] = strconv.Itoa(c)
	}
	return append([]string{"taskset", "-c", strings.Join(list, ",")}, args...)
}

func sample(log []byte, client *traffic.Process) (traffic.Sample, error) {
	times, err := parse(log)
	if err != nil {
		return traffic.Sample{}, err
	}
	s, err := traffic.LatencySample(times)
	if err != nil {
		return s, fmt.Errorf("sockperf: %w: %q", err, traffic.Excerpt(string(client.Stdout())))
	}
	s.Raw = []trial.ToolOutput{client.Output()}
	return s, nil
}

// parse reads sockperf's full log: after its heading, each line is a message's
// number and the times it left and came back, in seconds. The difference is the
// round trip; the log's last column depends on sockperf's options and is not read.
func parse(log []byte) ([]int64, error) {
	var times []int64
	scan := bufio.NewScanner(bytes.NewReader(log))
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
		f := strings.Split(line, ",")
		if len(f) < 3 {
			return nil, fmt.Errorf("sockperf's log has a line that is not a message: %q", traffic.Excerpt(line))
		}
		sent, errS := nanoseconds(f[1])
		back, errB := nanoseconds(f[2])
		if errS != nil || errB != nil || back < sent {
			return nil, fmt.Errorf("sockperf's log has a line that is not a message: %q", traffic.Excerpt(line))
		}
		times = append(times, back-sent)
	}
	if !heading {
		return nil, fmt.Errorf("sockperf's log has no messages: %q", traffic.Excerpt(string(log)))
	}
	return times, scan.Err()
}

// nanoseconds of a decimal number of seconds, exact where a float would round.
func nanoseconds(text string) (int64, error) {
	whole, fraction, _ := strings.Cut(strings.TrimSpace(text), ".")
	if len(fraction) > 9 {
		fraction = fraction[:9]
	}
	return strconv.ParseInt(whole+fraction+strings.Repeat("0", 9-len(fraction)), 10, 64)
}
