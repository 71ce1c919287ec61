// Package sockperf measures round-trip times of single UDP messages with
// sockperf's ping-pong, every message of which is kept.
package sockperf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// smallest message that sockperf sends.
const smallest = 14

// Tool is sockperf.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "sockperf" }

// Redirects implements traffic.Redirected.
func (Tool) Redirects() {}

// Requires implements traffic.Tool.
func (Tool) Requires() []string { return []string{"tool.sockperf"} }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.Latency} }

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	ctx, cancel := traffic.Deadline(ctx, job.Condition.DurationS)
	defer cancel()
	if err := job.PortsFree(); err != nil {
		return traffic.Sample{}, err
	}
	log, err := unnamed()
	if err != nil {
		return traffic.Sample{}, err
	}
	defer func() { _ = log.Close() }()
	logName := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), log.Fd())

	server, err := job.StartServer(ctx, serverArgs(job)...)
	if err != nil {
		return traffic.Sample{}, err
	}
	defer server.Kill()
	ready := func() bool { return netns.BoundUDP(server.PID(), job.ListenPort()) }
	if err := server.Until(ctx, ready, "it does not have its UDP port"); err != nil {
		return traffic.Sample{}, err
	}
	client, err := job.StartClient(ctx, clientArgs(job, logName)...)
	if err != nil {
		return traffic.Sample{}, err
	}
	defer client.Kill()
	if err := client.Wait(ctx); err != nil {
		return traffic.Sample{}, err
	}
	s, err := sample(job.Condition, log, client)
	s.Raw = []trial.ToolOutput{client.Output(), server.Output()}
	return s, err
}

// unnamed makes a file on disk, for its log can be large, that vanishes with this
// process however it ends.
func unnamed() (*os.File, error) {
	f, err := os.CreateTemp("", "nfchain-sockperf-")
	if err != nil {
		return nil, fmt.Errorf("no place for the log of sockperf: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func serverArgs(job traffic.Job) []string {
	return []string{"sockperf", "server", "-i", job.Listen().String(), "-p", strconv.Itoa(job.ListenPort())}
}

func clientArgs(job traffic.Job, log string) []string {
	c := job.Condition
	args := []string{"sockperf", "ping-pong", "-i", job.Address.String(), "-p", strconv.Itoa(job.FirstPort),
		"-t", strconv.FormatFloat(traffic.WholeSeconds(c.DurationS), 'f', -1, 64), "--full-log", log, "--full-rtt"}
	if c.PayloadSize > 0 {
		args = append(args, "-m", strconv.FormatUint(max(c.PayloadSize, smallest), 10))
	}
	return args
}

// sample is what the log comes to.
func sample(c trial.Condition, log *os.File, client *traffic.Process) (traffic.Sample, error) {
	if info, err := log.Stat(); err != nil || info.Size() == 0 {
		return traffic.Sample{}, errors.Join(fmt.Errorf("%s wrote no log: %q", client, words.Excerpt(client.Stdout())), err)
	}
	messages, err := parse(log)
	if bytes.Contains(client.Stdout(), []byte("No valid observations")) {
		return traffic.Sample{}, fmt.Errorf("%s measured nothing: a message was lost, for which it waits for ever, or hardly any was sent; ping measures all the same", client)
	}
	if err != nil {
		return traffic.Sample{}, fmt.Errorf("%w; it printed %q", err, words.Excerpt(client.Stdout()))
	}
	s, err := traffic.LatencySample(messages.roundTrips)
	if err != nil {
		return s, fmt.Errorf("sockperf: %w; it printed %q", err, words.Excerpt(client.Stdout()))
	}
	if c.PayloadSize > 0 && c.PayloadSize < smallest {
		s.Warnings = append(s.Warnings, fmt.Sprintf("sockperf's messages are not smaller than %d bytes: that size was sent", smallest))
	}
	if asked := traffic.WholeSeconds(c.DurationS); messages.seconds() < asked/3 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("sockperf stopped measuring after %.1f s of %v: it waits for ever for a message that was lost", messages.seconds(), asked))
	}
	return s, nil
}
