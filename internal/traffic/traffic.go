// Package traffic says what a traffic tool must do: offer a load between two
// namespaces and say what came out at the far end. Each tool is a package below
// this one.
package traffic

import (
	"context"
	"net/netip"
	"os"
	"time"

	"nfchain.dev/nfchain/internal/trial"
)

// Ends are where a load enters and leaves.
type Ends struct {
	// ClientNetns and ServerNetns are namespace references.
	ClientNetns, ServerNetns string
	// ClientNode and ServerNode are their names in the chain.
	ClientNode, ServerNode string
	// Address of the server, as the client reaches it; Addresses has those of all
	// families, where there are others.
	Address   netip.Addr
	Addresses []netip.Addr
	// Server is an address that the server itself has, and Bind the one where it
	// listens, unspecified if at several; absent, both are Address.
	Server, Bind netip.Addr
}

// Own is an address that the server has.
func (e Ends) Own() netip.Addr {
	if e.Server.IsValid() {
		return e.Server
	}
	return e.Address
}

// Listen is the address where the server listens.
func (e Ends) Listen() netip.Addr {
	if e.Bind.IsValid() {
		return e.Bind
	}
	return e.Own()
}

// Job is one trial for a tool.
type Job struct {
	Ends
	Condition trial.Condition
	// Asked is what a search asks for, nil without one. Its load and duration are
	// the condition's too; the rest is for tools that make their own frames.
	Asked *trial.Step
	// Held is how long the path may hold a packet on purpose, beyond what any path takes.
	Held time.Duration
	// SpareEast and SpareWest are addresses that nobody has and that the path carries to the
	// server's end and to the client's; of both IP versions, where there are any.
	SpareEast, SpareWest []netip.Addr
	// Site is where the URL of the load leads, as the client reaches it; zero where there is none, and
	// the tool has a server of its own.
	Site netip.AddrPort
	// FirstPort of as many as there are flows, and BindPort the one where the server
	// listens for it; 0 is the same.
	FirstPort, BindPort int
	// Memory has the memory nodes of the tools, by node of the chain; none is any.
	Memory map[string][]int
	// Begins is called when the load begins, by a tool that is [Preparing]; it may be nil.
	Begins func()
	// Started is told of every process of the tool, for observing it; it may be nil.
	Started func(node string, pid int)
	// Ended is told of each when it has ended, and what it came to; it may be nil.
	// It is called from several goroutines.
	Ended func(node, command string, state *os.ProcessState)
}

// Sample is what one trial came to, raw.
type Sample struct {
	Metrics    map[string]float64
	Histograms map[string]string
	Series     map[string]trial.Series
	Raw        []trial.ToolOutput
	Warnings   []string
}

// ListenPort is where the server listens for the first port.
func (j Job) ListenPort() int {
	if j.BindPort != 0 {
		return j.BindPort
	}
	return j.FirstPort
}

// Redirected is a tool whose server can listen on another port than its client sends to.
type Redirected interface {
	Tool
	Redirects()
}

// Portless is a tool whose packets have no ports.
type Portless interface {
	Tool
	HasNoPorts()
}

// WallClocked is a tool whose times are of the wall clock, which somebody may set while it
// measures. Others have a clock that nobody can set.
type WallClocked interface {
	Tool
	ReadsWallClock()
}

// Pacer is a tool of latency that sends as many requests a second as it is told. Others send as they do by
// themselves.
type Pacer interface {
	Tool
	// Paces tells why the tool cannot send so many requests a second; nil where it can.
	Paces(perSecond int) error
}

// Preparing is a tool that does something of its own before its load begins, and tells when that does.
type Preparing interface {
	Tool
	Prepares()
}

// Framer is a tool that makes its own frames. No other takes the fields of
// [trial.Frames] or a rate in frames.
type Framer interface {
	Tool
	// Ceiling is the most frames a second that the tool can send and count on this
	// machine under the condition, with nothing between, to begin a search with.
	Ceiling(ctx context.Context, c trial.Condition) (float64, error)
}

// Mixer is one that sends frames of several sizes in turn.
type Mixer interface {
	Framer
	// Mix has the sizes of a mix by its genome (RFC 6985 §4), in bytes with the check
	// sequence.
	Mix(genome string) ([]int, error)
}

// Teacher is a tool that sends learning frames: those that fill the tables of what they
// cross, before a trial (RFC 2544 §23).
type Teacher interface {
	Tool
	// Teach sends frames of each of a job's flows, both ways. What becomes of them counts in
	// no trial.
	Teach(ctx context.Context, job Job) error
}

// ManyFlows is a tool that has as many flows as it says. Others have a process, a socket
// or a connection for each, and [MostFlows] of them.
type ManyFlows interface {
	Tool
	MaxFlows() int
}

// MostFlows of a tool that says nothing else.
const MostFlows = 1024

// FlowsOf is how many flows a tool may have.
func FlowsOf(t Tool) int {
	if many, is := t.(ManyFlows); is {
		return many.MaxFlows()
	}
	return MostFlows
}

// OutageMetric of a trial in which the chain is harmed is the longest time in which nothing came, less the time between two
// packets or requests.
const OutageMetric = "outage_ns"

// Tool is one traffic tool.
type Tool interface {
	Name() string
	// Requires names the features the machine must have.
	Requires() []string
	// Protocols the tool can measure: trial.TCP, trial.UDP, trial.Latency.
	Protocols() []string
	// Run offers the load and waits for the result. It leaves no process behind,
	// whatever happens, and gives up some time after the trial should have ended.
	Run(ctx context.Context, job Job) (Sample, error)
}
