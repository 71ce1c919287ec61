package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/feature"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
)

// mostSent packets of a flow that is explained.
const mostSent = 1000

func (a *app) explainCmd() *cobra.Command {
	var t trace.Options
	var w runs.FlowWords
	cmd := &cobra.Command{
		Use: "explain CHAIN|FILE PROTOCOL FROM TO", Short: "Tell which way packets of a flow take through a live chain, how far they come, and why no farther",
		Long: `Send a few packets of a flow from the end of a chain where it begins, and tell at which hops
they were seen, where they ended, and why, in words beside the kernel's own.

PROTOCOL is tcp, udp, sctp, dccp, udplite, icmp, icmpv6, gre, esp, ah, or a number from 1 to 255; icmp
is that of the addresses' version of IP.

FROM and TO are nodes or addresses, with a port for tcp, udp, sctp, dccp and udplite: client, server:443,
198.18.0.1, [2001:2::1]:443. A name means what it resolves to at the end where the flow begins, as
programs there see it. A flow begins at one of the ends; where FROM has no port, one is chosen. It goes
to the other end, to who is behind that, or to a function, where it ends then. The packets open a connection (tcp, sctp, dccp), carry a few bytes (udp, udplite) or ask for an echo (icmp, icmpv6), and
what listens at TO gets them, whatever it then makes of them. Those of other protocols have zeros where their header would be.

A classifier's rules ask for more: --dscp gives the packets a code point, --vlan a tag, and with --ingress they
come in at that end, so that FROM may be anybody's address behind it.

It needs root and a kernel that describes its types (Linux 5.17 or newer).`,
		Example: `  nfchain explain edge tcp client server:443
  nfchain explain edge udp client:5000 198.18.0.9:53 -o json
  nfchain explain edge icmp server client
  nfchain explain edge sctp client server:3868
  nfchain explain edge gre client server
  nfchain explain edge tcp server fw:22
  nfchain explain edge tcp 203.0.113.7 server:443 --ingress client --dscp af41 --vlan 10`,
		Args: cobra.ExactArgs(4), ValidArgsFunction: a.completeFlow,
	}
	var o *string
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		switch {
		case t.Send < 1 || t.Send > mostSent:
			return fmt.Errorf("--send: 1 to %d packets are possible, not %d: %w", mostSent, t.Send, runs.ErrInput)
		case t.Patience < 0:
			return fmt.Errorf("--patience: a time cannot be less than nothing: %w", runs.ErrInput)
		}
		if err := a.host(cmd.Context()).Features.Missing(feature.BPFTrace); err != nil {
			return err
		}
		p, err := a.live(cmd.Context(), args[0], "explain")
		if err != nil {
			return err
		}
		w.Protocol, w.From, w.To = args[1], args[2], args[3]
		flow, err := runs.FlowOf(p, w)
		if err != nil {
			return err
		}
		chain, err := runs.Explained(p, flow)
		if err != nil {
			return err
		}
		e, err := trace.Explain(cmd.Context(), chain, flow, t)
		if err != nil {
			return err
		}
		watched, err := runs.OnWatch(p.Chain)
		if err != nil {
			return err
		}
		for _, failing := range watched.Failing() {
			if !slices.Contains(e.Reasons, failing) {
				e.Warnings = append(e.Warnings, failing)
			}
		}
		if *o == "json" {
			return a.printJSON(e)
		}
		return e.Text(a.stdout)
	}))
	o = outputFlag(cmd, "text", "json")
	cmd.Flags().StringVar(&w.Ingress, "ingress", "", "the end where the flow comes in (default: the one that FROM is)")
	_ = cmd.RegisterFlagCompletionFunc("ingress", a.completeEnd)
	cmd.Flags().StringVar(&w.DSCP, "dscp", "", "code point of the packets, as rules have them: 0 to 63, ef, af41 …")
	cmd.Flags().StringVar(&w.VLAN, "vlan", "", "VLAN that the packets are of, 0 to 4094 (default: none)")
	cmd.Flags().IntVar(&t.Send, "send", 3, "packets to send")
	cmd.Flags().DurationVar(&t.Patience, "patience", 2*time.Second, "how long to wait for packets of which nothing more is seen")
	return cmd
}
