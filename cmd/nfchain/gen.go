package main

import (
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/trial"
)

// genFlags are the flags of gen as they are written.
type genFlags struct {
	offer                        builtin.Offer
	to, toMAC, from, rate, cores string
	frames                       api.Frames
	flows                        int
	duration                     time.Duration
}

func (a *app) genCmd() *cobra.Command {
	var g genFlags
	cmd := &cobra.Command{
		Use: "gen --dev IF --dst ADDRESS", Short: "Send measured frames from an interface, by itself",
		Long: `Send frames from an interface, from this kernel and as fast as one core can or at a rate,
until the duration or an interrupt ends it; then print what was sent, and how late after
it was due. nfchain meter, on the interface where they arrive and on this host, whose
clock their times are of, says what became of them.`,
		Example: `  nfchain gen --dev eth0 --dst 192.0.2.2 --rate 100kpps --duration 10s
  nfchain gen --netns client --dev eth0 --dst 2001:db8::2 --frame-size 512 --rate 2Gbit -o json`,
		Args: cobra.NoArgs,
	}
	var o *string
	cmd.RunE = does(func(cmd *cobra.Command, _ []string) error {
		offer, err := g.read(cmd)
		if err != nil {
			return fmt.Errorf("%w: %w", err, runs.ErrInput)
		}
		if err := namespaceThere(offer.Netns); err != nil {
			return err
		}
		s, err := builtin.Send(cmd.Context(), offer)
		if err != nil {
			return deviceThere(err)
		}
		return a.printSample(s, *o)
	})
	g.register(cmd)
	o = outputFlag(cmd, "text", "json")
	return cmd
}

func (g *genFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&g.offer.Device, "dev", "", "interface to send from")
	f.StringVar(&g.offer.Netns, "netns", "", "network namespace of the interface (default: this one)")
	f.StringVar(&g.to, "dst", "", "address to send to")
	f.IntVar(&g.offer.Targets, "destinations", 0, "addresses from --dst on that flows go to in turn, a power of two up to 256, with --flows-by addresses or both (default 1)")
	f.StringVar(&g.toMAC, "dst-mac", "", "link-layer address of the next hop (default: as the kernel knows it)")
	f.StringVar(&g.from, "src", "", "source address (default: as the kernel would choose)")
	f.IntVar(&g.offer.Port, "port", runs.FirstPort, "UDP port to send to")
	f.StringVar(&g.rate, "rate", "", "load, such as 100kpps or 2Gbit (default: as fast as it goes)")
	f.IntVar(&g.frames.FrameSize, "frame-size", 0, "bytes of a frame with its check sequence (default: the smallest)")
	f.StringVar(&g.frames.IMIX, "imix", "", "mix of frame sizes by its genome (RFC 6985), such as aaaaaaaddddg")
	f.StringVar(&g.frames.Pattern, "pattern", "", "how frames are sent: periodic or poisson (default periodic)")
	f.IntVar(&g.frames.Burst, "burst", 0, "frames sent back to back whenever they are due (default 1)")
	f.IntVar(&g.frames.VLAN, "vlan", 0, "VLAN identifier of the frames (default: no tag)")
	f.IntVar(&g.flows, "flows", 1, "flows, which packets are of in turn")
	f.StringVar(&g.frames.FlowsBy, "flows-by", "", "what flows differ in: ports, addresses (from --src on, else of 198.18.0.0/15 or 2001:2::/48) or both (default ports)")
	f.DurationVar(&g.duration, "duration", 0, "how long to send (default: until interrupted)")
	f.StringVar(&g.cores, "affinity", "none", "core to send from; none is the last")
	f.Uint32Var(&g.offer.ID, "id", 0, "number of the load, which its meter is given too")
	for _, name := range []string{"dev", "dst"} {
		_ = cmd.MarkFlagRequired(name)
	}
}

// read gives the offer, or the first thing that is wrong with it.
func (g *genFlags) read(cmd *cobra.Command) (o builtin.Offer, err error) {
	o = g.offer
	if o.To, err = flagAddress(g.to); err != nil {
		return o, fmt.Errorf("--dst: %w", err)
	}
	if g.from != "" {
		if o.From, err = flagAddress(g.from); err != nil {
			return o, fmt.Errorf("--src: %w", err)
		}
	}
	if g.toMAC != "" {
		if o.ToMAC, err = net.ParseMAC(g.toMAC); err != nil {
			return o, fmt.Errorf("--dst-mac: %q is not a link-layer address; write one such as 02:00:00:00:00:01", g.toMAC)
		}
	}
	rate := api.LoadRate{}
	if g.rate != "" {
		if rate, err = flagRate(g.rate); err != nil {
			return o, fmt.Errorf("--rate: %w", err)
		}
	}
	if err := refuseZero(cmd, zero{"rate", rate == api.LoadRate{}}, zero{"frame-size", g.frames.FrameSize == 0},
		zero{"burst", g.frames.Burst == 0}, zero{"vlan", g.frames.VLAN == 0},
		zero{"destinations", g.offer.Targets == 0}); err != nil {
		return o, err
	}
	o.Condition = trial.Condition{Frames: trial.Frames(g.frames), Flows: g.flows, Affinity: g.cores,
		OfferedBps: float64(rate.Bits), OfferedPps: float64(rate.Frames), DurationS: g.duration.Seconds()}
	if err := builtin.Check(o.Condition); err != nil {
		return o, err
	}
	if err := o.CheckPort(); err != nil {
		return o, fmt.Errorf("--port: %w", err)
	}
	if err := o.Check(); err != nil {
		return o, fmt.Errorf("--destinations: %w", err)
	}
	return o, nil
}

// flagAddress reads an address as a person is told of it.
func flagAddress(text string) (netip.Addr, error) {
	address, err := netip.ParseAddr(text)
	if err != nil {
		return address, fmt.Errorf("%q is not an address; write one such as 192.0.2.1 or 2001:db8::1", text)
	}
	return address, nil
}
