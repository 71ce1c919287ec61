package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"nfchain.dev/nfchain/internal/capture"
	"nfchain.dev/nfchain/internal/capture/filter"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/words"
)

// captureFlags say what to capture, and where it goes.
type captureFlags struct {
	options capture.Options
	// buffer in MiB.
	buffer        int
	write, output string
}

// stdout stands for standard output where a file is named.
const stdout = "-"

func (a *app) captureCmd() *cobra.Command {
	var c captureFlags
	cmd := &cobra.Command{
		Use: "capture CHAIN [NODE]", Short: "Write the packets at a live chain's hops to a file for Wireshark, in order of time",
		Long: `Capture what comes in and goes out by the interfaces of a chain that is up, or of one of
its hops, named as CHAIN NODE or CHAIN/NODE, where the chain's file may stand for CHAIN, whatever the wiring, until interrupted, and write it as pcapng. Each interface is
two in the file, one each way: fw:eth0:in is what comes in by eth0 of fw. Each packet says in
its comment which hop it is at and which way along the chain it goes, and where the chain has
several paths on which of them its flow is, unless a function has given it other addresses. Packets of all hops are
in order of time, in nanoseconds; those that came faster than they were written are counted.
A function that is inline has no interfaces: named as the hop, it is captured at those beside it.
One with replicas, named as the hop, is captured at all of them, and each by its own name.
So is one that was taken out while flows from before go by it.

A filter is of pcap-filter(7): host, net, port, portrange and proto, with src, dst, and the
protocols ip, ip6, arp, rarp, tcp, udp, sctp, icmp and icmp6; less, greater; and, or, not,
parentheses. Names of nodes are hosts. The kernel applies it before it copies a packet.

Taking packets costs each hop a copy of them: capture at one hop, with a filter or a
small --snaplen, where a measurement goes on. Interfaces that are made later are not
captured. Checksums that the kernel leaves to a later interface are not yet right.`,
		Example: `  nfchain capture edge --write edge.pcapng
  nfchain capture edge/fw --filter 'host client and tcp port 443' --count 100 --write fw.pcapng
  nfchain capture edge fw --write fw.pcapng
  nfchain capture edge --for 10s --snaplen 128 | tshark -r - -T fields -e frame.interface_name`,
		Args: cobra.RangeArgs(1, 2), ValidArgsFunction: a.completeNode(1, hopsOf),
	}
	var o *string
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		c.output = *o
		if err := a.checkCapture(&c); err != nil {
			return err
		}
		return a.capture(cmd, args, c)
	}))
	o = outputFlag(cmd, "text", "json")
	f := cmd.Flags()
	f.StringVarP(&c.write, "write", "w", stdout, "the file to write; - is standard output, unless that is a terminal")
	f.StringVar(&c.options.Filter, "filter", "", "capture only packets that fit this expression")
	f.Uint64Var(&c.options.Count, "count", 0, "end after so many packets; 0 is no end")
	f.DurationVar(&c.options.For, "for", 0, "end after so long; 0 is no end")
	f.Uint32Var(&c.options.Snaplen, "snaplen", capture.MaxSnaplen, "bytes of each packet to keep")
	f.IntVar(&c.buffer, "buffer", 128, "memory for packets that are not yet written, MiB, for all interfaces together")
	return cmd
}

// checkCapture refuses what cannot be meant.
func (a *app) checkCapture(c *captureFlags) error {
	switch {
	case c.options.For < 0:
		return fmt.Errorf("--for: a time cannot be less than nothing: %w", runs.ErrInput)
	case c.options.Snaplen < 1 || c.options.Snaplen > capture.MaxSnaplen:
		return fmt.Errorf("--snaplen: 1 to %d bytes are possible, not %d: %w", capture.MaxSnaplen, c.options.Snaplen, runs.ErrInput)
	case c.buffer < 1 || c.buffer > maxBuffer:
		return fmt.Errorf("--buffer: 1 to %d MiB are possible, not %d: %w", maxBuffer, c.buffer, runs.ErrInput)
	case c.write == stdout && c.output == "json":
		return fmt.Errorf("--output json: the packets go to standard output; say where they go by --write FILE: %w", runs.ErrInput)
	case c.write == stdout && isTerminal(a.stdout):
		return fmt.Errorf("a capture is not for a terminal; say --write FILE, or pipe it into a program that reads pcapng: %w", runs.ErrInput)
	}
	if c.options.Buffer = c.buffer << 20; c.write == stdout {
		return nil
	}
	return checkWritable("write", c.write)
}

// maxBuffer in MiB.
const maxBuffer = 1 << 16

// isTerminal tells whether what is written to is one.
func isTerminal(w io.Writer) bool {
	f, is := w.(*os.File)
	return is && term.IsTerminal(int(f.Fd()))
}

func (a *app) capture(cmd *cobra.Command, args []string, c captureFlags) error {
	name, hop, err := oneNode(args)
	if err != nil {
		return err
	}
	p, err := a.live(cmd.Context(), name, "capture")
	if err != nil {
		return err
	}
	chain, err := runs.Captured(p, hop)
	if err != nil {
		return err
	}
	if _, err := filter.Compile(c.options.Filter, c.options.Snaplen, chain.Names); err != nil {
		return fmt.Errorf("--filter: %w: %w", err, runs.ErrInput)
	}
	c.options.Ready = func() {
		a.say("capturing at %s; interrupt to end", words.Plural(len(chain.Points)/2, "interface"))
	}
	var r capture.Report
	err = a.writeCapture(c.write, func(w io.Writer) (err error) {
		r, err = capture.Run(cmd.Context(), chain, c.options, w)
		return err
	})
	if err != nil {
		return err
	}
	return a.printCapture(r, c)
}

// writeCapture gives a capture what it writes to, piece by piece, so that others can read
// along.
func (a *app) writeCapture(path string, write func(io.Writer) error) error {
	if path == stdout {
		return write(a.stdout)
	}
	f := &beginning{path: path}
	if _, whole := destination(path); !whole { // who reads it is waited for first, as behind a named pipe
		if err := f.open(); err != nil {
			return err
		}
	}
	return errors.Join(write(f), f.Close())
}

// beginning is a file that is made when there is something to write: a capture that does not begin costs nobody what was there.
type beginning struct {
	path string
	file *os.File
}

func (b *beginning) open() (err error) {
	if b.file, err = os.OpenFile(b.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666); err != nil { // to be read, too, a named pipe would need nobody else
		return fmt.Errorf("--write: %w", err)
	}
	return nil
}

func (b *beginning) Write(data []byte) (int, error) {
	if b.file == nil {
		if err := b.open(); err != nil {
			return 0, err
		}
	}
	return b.file.Write(data)
}

func (b *beginning) Close() error {
	if b.file == nil {
		return nil
	}
	return b.file.Close()
}

// printCapture reports on standard output, or where that has the packets beside it.
func (a *app) printCapture(r capture.Report, c captureFlags) error {
	switch {
	case c.output == "json":
		return a.printJSON(r)
	case c.write != stdout:
		return r.Text(a.stdout)
	case a.quiet && len(r.Warnings) == 0:
		return nil
	}
	return r.Text(a.stderr)
}
