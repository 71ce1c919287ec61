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
	// Address of the server, as the client reaches it.
	Address netip.Addr
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
	// FirstPort of as many as there are flows.
	FirstPort int
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

// Framer is a tool that makes its own frames. No other takes the fields of
// [trial.Frames] or a rate in frames.
type Framer interface {
	Tool
	// Ceiling is the most frames a second that the tool can send and count on this
	// machine under the condition, with nothing between, to begin a search with.
	Ceiling(ctx context.Context, c trial.Condition) (float64, error)
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
