package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/process"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
)

func (a *app) traceCmd() *cobra.Command {
	t := trace.Options{}
	cmd := &cobra.Command{
		Use: "trace CHAIN|FILE", Short: "Show where packets go in a live chain: each hop's traffic, drops by cause, and times",
		Long: `Look at a chain that is up, given by its name or its file, and show, hop by hop, what came in and went out, what was
dropped and why (the kernel's reasons and functions, XDP, the function's rules), and with
--send how long packets took to each hop: then marked packets go from the first endpoint
to the last, and what was sent is set against what was received and dropped. What is left
is shown as unexplained. COUNTED is what functions counted that went on; of what is in DROPPED, DROPPED BY is what
functions, their rules and policies counted as theirs. Without --send the chain's own traffic is looked at.

It needs root and a kernel that describes its types (Linux 5.17 or newer). Packets that
XDP programs pass from interface to interface are not seen in between.`,
		Example: `  nfchain trace edge --send 1000
  nfchain trace edge --for 10s --softirq -o json`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeChain,
	}
	var o *string
	var dscp string
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		err := checkTrace(t, cmd.Flags().Changed)
		if err == nil && dscp != "" {
			t.CodePoint, err = codePoint(dscp)
		}
		if err != nil {
			return err
		}
		if err := a.host(cmd.Context()).Features.Missing(feature.BPFTrace); err != nil {
			return err
		}
		p, err := a.live(cmd.Context(), args[0], "trace")
		if err != nil {
			return err
		}
		chain, warnings, err := traced(p, t)
		if err != nil {
			return err
		}
		if chain.Probes, err = process.Probes(p.Chain); err != nil {
			return err
		}
		r, err := trace.Run(cmd.Context(), chain, t)
		if err != nil {
			return err
		}
		r.Warnings = append(r.Warnings, warnings...)
		watched, err := runs.OnWatch(p.Chain)
		if err != nil {
			return err
		}
		if watched.Any() {
			ends := "which is no drop"
			if chain.Probes == 0 { // who watches is of a version that does not say what they are like
				ends = "by TC_INGRESS"
			}
			r.Warnings = append(r.Warnings, "probes are among what came and went, of functions that are watched (onFailure); they end in the forwarder, "+ends)
		}
		r.Warnings = append(r.Warnings, watched.Failing()...)
		if *o == "json" {
			return a.printJSON(r)
		}
		return r.Text(a.stdout)
	}))
	o = outputFlag(cmd, "text", "json")
	f := cmd.Flags()
	f.IntVar(&t.Send, "send", 0, "marked packets to send from the first endpoint to the last")
	f.Float64Var(&t.Rate, "rate", 1000, "packets per second of --send; 0 is as fast as a socket takes them")
	f.IntVar(&t.Payload, "payload-size", 64, "bytes of each packet of --send behind its UDP header")
	f.IntVar(&t.TTL, "ttl", 0, "hops that the packets of --send may take (default: the system's)")
	f.StringVar(&dscp, "dscp", "", "code point of the packets of --send: 0 to 63, ef, af41 …")
	f.DurationVar(&t.For, "for", 5*time.Second, "how long to look where nothing is sent")
	f.DurationVar(&t.Patience, "patience", 2*time.Second, "how long to wait for packets of --send of which nothing more is seen")
	f.BoolVar(&t.Softirq, "softirq", false, "show the time that cores spend at each hop; it slows packets down by 10 to 30%")
	return cmd
}

// traced is a chain as packets see it that are sent, or else as its own do.
func traced(p *plan.Plan, t trace.Options) (c trace.Chain, warnings []string, err error) {
	if t.Send > 0 {
		c, err = runs.Sent(p, t.CodePoint)
		return c, nil, err
	}
	return runs.Whole(p)
}

// codePoint of packets, by its number or name.
func codePoint(text string) (uint8, error) {
	c, err := api.ParseCodePoint(text)
	if err != nil {
		err = fmt.Errorf("--dscp: %w: %w", err, runs.ErrInput)
	}
	return c, err
}

// ofSent are flags of packets that are sent.
var ofSent = []string{"rate", "payload-size", "ttl", "dscp", "patience"}

// checkTrace refuses what cannot be meant.
func checkTrace(t trace.Options, given func(flag string) bool) error {
	switch {
	case t.Send < 0 || t.Send > trace.MaxSend:
		return fmt.Errorf("--send: %d packets cannot be sent, at most %d: %w", t.Send, trace.MaxSend, runs.ErrInput)
	case t.Rate < 0:
		return fmt.Errorf("--rate: %v is less than nothing: %w", t.Rate, runs.ErrInput)
	case t.Payload < trace.MinPayload || t.Payload > trace.MaxPayload:
		return fmt.Errorf("--payload-size: %d to %d bytes are possible, not %d: %w", trace.MinPayload, trace.MaxPayload, t.Payload, runs.ErrInput)
	case t.TTL < 0 || t.TTL > 255:
		return fmt.Errorf("--ttl: %d is not between 1 and 255: %w", t.TTL, runs.ErrInput)
	case t.For < 0 || t.Patience < 0:
		return fmt.Errorf("--for, --patience: a time cannot be less than nothing: %w", runs.ErrInput)
	case t.Send > 0 && given("for"):
		return fmt.Errorf("--for is of a chain's own traffic; leave out --send, or say with --patience how long packets that are sent are waited for: %w", runs.ErrInput)
	}
	for _, flag := range ofSent {
		if t.Send == 0 && given(flag) {
			return fmt.Errorf("--%s is of packets that are sent; add --send N: %w", flag, runs.ErrInput)
		}
	}
	return nil
}
