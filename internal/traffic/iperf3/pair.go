package iperf3

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"nfchain.dev/nfchain/internal/traffic"
)

// pair is one flow: a client with a server of its own.
type pair struct {
	server, client *traffic.Process
	counted        flow
}

func (p *pair) kill() {
	for _, process := range []*traffic.Process{p.client, p.server} {
		if process != nil {
			process.Kill()
		}
	}
}

func killAll(pairs []pair) {
	for i := range pairs {
		pairs[i].kill()
	}
}

// wait waits for all pairs at once, so that the first failure ends the trial.
func wait(ctx context.Context, protocol string, pairs []pair) error {
	ended := make(chan error, len(pairs))
	for i := range pairs {
		go func() {
			err := pairs[i].wait(ctx, protocol)
			if err != nil && len(pairs) > 1 && ctx.Err() == nil {
				err = fmt.Errorf("flow %d: %w", i+1, err)
			}
			ended <- err
		}()
	}
	var first error
	for range pairs {
		if err := <-ended; err != nil && first == nil {
			first = err
			killAll(pairs)
		}
	}
	return first
}

// wait waits for one pair and reads what it counted. The client comes first: when
// it cannot connect, it says so, iperf3 3.12 with exit code 0 and 3.18 with 1, and its
// server waits for ever.
func (p *pair) wait(ctx context.Context, protocol string) error {
	if err := p.client.Wait(ctx); err != nil {
		return explain(ctx, p.client, err)
	}
	client, err := parse(p.client.Stdout())
	if err != nil {
		return fmt.Errorf("the client's %w", err)
	}
	if err := p.server.Wait(ctx); err != nil {
		return explain(ctx, p.server, err)
	}
	server, err := parse(p.server.Stdout())
	if err != nil {
		return fmt.Errorf("the server's %w", err)
	}
	p.counted, err = count(client, server, protocol)
	return err
}

// explain prefers what iperf3 says of itself: as JSON, or of wrong parameters
// before its help.
func explain(ctx context.Context, p *traffic.Process, err error) error {
	if ctx.Err() != nil {
		return err
	}
	var o output
	if json.Unmarshal(p.Stdout(), &o) == nil && o.Error != "" {
		return fmt.Errorf("%s says %q", p, o.Error)
	}
	first, _, _ := strings.Cut(string(p.Stderr()), "\n")
	if reason, ok := strings.CutPrefix(first, "iperf3: "); ok {
		return fmt.Errorf("%s says %q", p, reason)
	}
	return err
}

// warnings are iperf3's own, of packets larger than the path takes for example.
func warnings(stderr []byte) []string {
	var found []string
	for _, line := range strings.Split(string(stderr), "\n") {
		if text, ok := strings.CutPrefix(line, "warning: "); ok {
			found = append(found, "iperf3: "+strings.ToValidUTF8(text, "�"))
		}
	}
	return found
}
