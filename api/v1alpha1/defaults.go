package v1alpha1

import (
	"slices"
	"time"
)

// ToolAuto lets nfchain choose the traffic tool by protocol.
const ToolAuto = "auto"

// The affinities that are no CPU list.
const (
	AffinityNone   = "none"
	AffinitySpread = "spread"
)

// DefaultChainSpec is a chain of which the file says nothing: its two ends.
func DefaultChainSpec() ChainSpec {
	return ChainSpec{
		Wiring:    "veth",
		Runtime:   RuntimeNetns,
		Endpoints: []Endpoint{{Name: "client"}, {Name: "server"}},
		Addresses: Addresses{IPv4: "198.18.0.0/15", IPv6: "2001:2::/48"},
		MTU:       1500,
	}
}

// DefaultLoad is a load of which neither file nor flags say anything. Direct
// stays nil, since its default is the command's.
func DefaultLoad() Load {
	return Load{
		Tool:      ToolAuto,
		Protocols: []string{"tcp"},
		Flows:     1,
		Duration:  defaultDuration,
		Repeats:   3,
		Affinity:  AffinityNone,
	}
}

// The lengths of a trial of which nothing is said.
const (
	defaultDuration = Duration(5 * time.Second)
	// RFC 6349 §3.3 wants more than 30 s, and trials last whole seconds.
	rfc6349Duration = Duration(31 * time.Second)
)

// DefaultDuration of one trial, where nothing is said but what to measure.
func (l Load) DefaultDuration() Duration {
	if slices.Equal(l.Protocols, []string{"rfc6349"}) {
		return rfc6349Duration
	}
	return defaultDuration
}

// SetDefaults fills in what a function is unless its file says otherwise.
func (b *FunctionBody) SetDefaults() {
	b.Replicas = 1
	b.Direction = Both
}

// With puts the fields that are set in over on top of the load.
func (l Load) With(over Load) Load {
	replace(&l.Tool, over.Tool)
	replace(&l.Flows, over.Flows)
	replace(&l.PayloadSize, over.PayloadSize)
	replace(&l.Rate, over.Rate)
	l.Frames = l.Frames.with(over.Frames)
	replace(&l.ActiveChains, over.ActiveChains)
	replace(&l.IdleContainers, over.IdleContainers)
	replace(&l.Harm, over.Harm)
	replace(&l.Search, over.Search)
	l.Messages = l.Messages.with(over.Messages)
	replace(&l.URL, over.URL)
	replace(&l.RequestRate, over.RequestRate)
	replace(&l.Duration, over.Duration)
	replace(&l.Repeats, over.Repeats)
	l.Repetition = l.Repetition.with(over.Repetition)
	replace(&l.Zerocopy, over.Zerocopy)
	replace(&l.Affinity, over.Affinity)
	replace(&l.Direct, over.Direct)
	replace(&l.Path, over.Path)
	replaceList(&l.Protocols, over.Protocols)
	return l
}

func (f Frames) with(over Frames) Frames {
	replace(&f.FrameSize, over.FrameSize)
	replace(&f.IMIX, over.IMIX)
	replace(&f.Pattern, over.Pattern)
	replace(&f.Burst, over.Burst)
	replace(&f.Bidirectional, over.Bidirectional)
	replace(&f.IPVersion, over.IPVersion)
	replace(&f.VLAN, over.VLAN)
	replace(&f.FlowsBy, over.FlowsBy)
	return f
}

func (m Messages) with(over Messages) Messages {
	replace(&m.RequestSize, over.RequestSize)
	replace(&m.ResponseSize, over.ResponseSize)
	replace(&m.BusyLoop, over.BusyLoop)
	return m
}

func replaceList[T any](field *[]T, with []T) {
	if len(with) > 0 {
		*field = with
	}
}

func replace[T comparable](field *T, with T) {
	var unset T
	if with != unset {
		*field = with
	}
}
