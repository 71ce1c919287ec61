// Package web measures what a web server gives to its clients: requests a second, goodput,
// how long answers take, how that goes over the time of a trial, and how many requests get no
// good answer. A flow is a connection, which has one request under way and is kept for the
// next. Without a rate the loop is closed: each answer is followed by the next request, so a
// path that stalls is asked less, and times are from when a request was sent. With a rate it is
// open: requests are due at even times, whatever becomes of those before, and times are from
// when a request was due, so that those which a stall held back count with all that they waited
// (which leaving out is called coordinated omission). Both sides are this binary, run again
// inside the chain's ends; where the load has a URL, the server is whoever listens there.
package web

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"time"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Tool is the built-in load of web servers.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "web" }

// Redirects implements traffic.Redirected.
func (Tool) Redirects() {}

// Requires implements traffic.Tool: nothing but this binary.
func (Tool) Requires() []string { return nil }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.HTTP} }

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	ctx, cancel := traffic.Deadline(ctx, job.Condition.DurationS)
	defer cancel()
	s := settingsOf(job)
	var sent sentReport
	var raw []trial.ToolOutput
	var err error
	if job.Site.IsValid() {
		raw, err = job.Alone(ctx, Command, s, &sent)
	} else {
		job.Condition.Flows = 1 // all of them go to one port
		var served servedReport
		raw, err = job.Sides(ctx, Command, s.at(job), s, &sent, &served)
	}
	if err != nil {
		return traffic.Sample{}, err
	}
	sample, err := sent.sample(s)
	sample.Raw = raw
	return sample, err
}

// settings are a trial as both sides' command lines carry it.
type settings struct {
	// Address of the server.
	Address netip.AddrPort `json:"address"`
	// Host as requests name it, and Path that they ask for.
	Host string `json:"host,omitempty"`
	Path string `json:"path,omitempty"`
	// Connections that requests go over.
	Connections int `json:"connections"`
	// Rate of requests a second over all connections; 0 sends each when the one before is answered.
	Rate     float64       `json:"rate,omitempty"`
	Duration time.Duration `json:"duration_ns"`
}

// settingsOf is a job as its sides are told of it.
func settingsOf(job traffic.Job) settings {
	c := job.Condition
	s := settings{
		Address: netip.AddrPortFrom(job.Address, uint16(job.FirstPort)), Path: "/" + strconv.FormatUint(max(1, c.ResponseSize), 10),
		Connections: c.Flows, Rate: float64(c.RequestRate), Duration: time.Duration(c.DurationS * float64(time.Second)),
	}
	if job.Site.IsValid() {
		s.Address = job.Site
		s.Host, s.Path = named(c.URL)
	} else {
		s.Host = net.JoinHostPort(job.Address.String(), strconv.Itoa(job.FirstPort))
	}
	return s
}

// at is where the server of a job listens.
func (s settings) at(job traffic.Job) settings {
	s.Address = netip.AddrPortFrom(job.Listen(), uint16(job.ListenPort()))
	return s
}
