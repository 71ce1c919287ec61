// Package pktgen offers UDP frames with the kernel's own packet generator, which a
// namespace has in files of its own. What arrives is counted by a packet socket at the
// server.
package pktgen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Tool is pktgen.
type Tool struct {
	// Dir has pktgen's files. Unset, it is the kernel's, of the namespace that a thread
	// is in.
	Dir string
}

var _ traffic.Framer = Tool{}

// MaxFlows implements traffic.ManyFlows.
func (Tool) MaxFlows() int { return ports - 1 - firstSource }

var _ traffic.ManyFlows = Tool{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "pktgen" }

// Requires implements traffic.Tool.
func (Tool) Requires() []string { return []string{feature.Root, feature.Pktgen} }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.UDP} }

// ceilingSeconds is how long a ceiling is looked for.
const ceilingSeconds = 1

// Ceiling implements traffic.Framer: what arrives over one veth pair.
func (t Tool) Ceiling(ctx context.Context, c trial.Condition) (float64, error) {
	ends, done, err := traffic.Workbench(c.IPVersion != 6)
	if err != nil {
		return 0, err
	}
	defer done()
	c.OfferedBps, c.OfferedPps, c.DurationS, c.Burst = 0, 0, ceilingSeconds, 0
	s, err := t.Run(ctx, traffic.Job{Ends: ends, Condition: c, FirstPort: 9})
	return s.Metrics["forwarding_rate_pps"], err
}

// Run implements traffic.Tool.
func (t Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	s, err := t.run(ctx, job)
	if err != nil {
		return s, fmt.Errorf("pktgen: %w", err)
	}
	return s, nil
}

func (t Tool) run(ctx context.Context, job traffic.Job) (none traffic.Sample, err error) {
	f, err := framesTo(job)
	if err != nil {
		return none, err
	}
	count, err := traffic.Count(job.ServerNetns, traffic.Arrivals{IPv6: f.to.Is6(), Port: f.port, VLAN: f.vlan})
	if err != nil {
		return none, err
	}
	defer count.Close()
	at := control{ref: job.ClientNetns, dir: t.dir()}
	if err := at.prepare(core(job.Condition.Affinity), f); err != nil {
		return none, errors.Join(err, at.write(master, "reset"))
	}
	s, err := measure(ctx, job, f, at, count)
	return s, errors.Join(err, at.write(master, "reset"))
}

// dir of the files. The namespace of a process is that of its first thread.
func (t Tool) dir() string {
	if t.Dir != "" {
		return t.Dir
	}
	return "/proc/thread-self/net/pktgen"
}

// framesTo the server of a job, by the way that they take.
func framesTo(job traffic.Job) (frames, error) {
	to, err := addressOf(job)
	if err != nil {
		return frames{}, err
	}
	f, err := framesOf(job, to)
	if err != nil {
		return f, err
	}
	way, err := job.Exit(to)
	f.from, f.toMAC = way.From, way.ToMAC
	if err == nil {
		f.device = way.Device.Attrs().Name
	}
	return f, err
}

func addressOf(job traffic.Job) (netip.Addr, error) {
	server, err := netns.Open(job.ServerNetns)
	if err != nil {
		return netip.Addr{}, err
	}
	defer server.Close()
	return job.To(server, job.Condition.IPVersion)
}

func measure(ctx context.Context, job traffic.Job, f frames, at control, count *traffic.Counter) (none traffic.Sample, err error) {
	ctx, cancel := traffic.FloodDeadline(ctx, job.Condition.DurationS)
	defer cancel()
	p, err := job.StartClient(ctx, at.start()...)
	if err != nil {
		return none, err
	}
	defer p.Kill()
	flood, err := count.Flood(ctx, p, job.Condition.DurationS)
	if err != nil {
		return none, err
	}
	sent, err := at.result(ctx, f.device)
	if err != nil {
		return none, err
	}
	s := sample(f, f.asked(job.Condition), sent, flood)
	raw, err := json.Marshal(sent.text)
	s.Raw = []trial.ToolOutput{{Command: p.Output().Command, Node: job.ClientNode, Output: raw}}
	return s, err
}

// sample of a trial. What was due and not sent is no loss of the path, but the load as
// it was meant lacks it too.
func sample(f frames, asked float64, o outcome, flood traffic.Flood) traffic.Sample {
	due := max(float64(o.sent), asked*o.seconds)
	s := traffic.Sample{Histograms: map[string]string{}, Metrics: map[string]float64{
		"forwarding_rate_pps": flood.Rate, "goodput_bps": flood.Rate * 8 * float64(f.size-fcs-f.headers()),
		"sent_packets": float64(o.sent), "sent_pps": float64(o.sent) / o.seconds,
		"offered_pps": due / o.seconds, "unsent_ratio": 1 - float64(o.sent)/due,
		"loss_ratio":      max(0, 1-float64(flood.Arrived)/float64(o.sent)),
		"load_loss_ratio": max(0, 1-float64(flood.Arrived)/due),
	}}
	if unsent := s.Metrics["unsent_ratio"]; unsent > unsentLimit {
		s.Warnings = append(s.Warnings, fmt.Sprintf("pktgen sent %.2f%% less than it was asked for: the load was not what was asked for", 100*unsent))
	}
	return s
}

// unsentLimit is the accuracy of a paced load.
const unsentLimit = 0.001
