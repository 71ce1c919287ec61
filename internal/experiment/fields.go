package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// fields are the factors of a sweep: each puts one value into a point.
var fields = map[string]func(*Point, any) error{
	"length": func(p *Point, v any) error {
		n, err := whole(v, api.MinLength, api.MaxLength)
		if err == nil {
			p.lengthen(n)
		}
		return err
	},
	"copies": func(p *Point, v any) error {
		n, err := whole(v, 0, api.MaxLength)
		if err == nil {
			p.copyAll(n)
		}
		return err
	},
	"flows": func(p *Point, v any) (err error) {
		if api.FlowsByCores(v) { // what there is of them was put in before
			p.refuse(fmt.Sprintf("%v come to no number of flows here", v))
			p.Lacking = true
			return nil
		}
		p.Load.Flows, err = whole(v, api.MinFlows, api.MaxFlows)
		return err
	},
	"protocol": func(p *Point, v any) error {
		s, err := oneOf(v, trial.TCP, trial.UDP, trial.Latency, trial.TCPRR, trial.UDPRR, trial.TCPCRR, trial.RFC6349, trial.HTTP)
		p.Load.Protocols = []string{s}
		return err
	},
	"flows_by": func(p *Point, v any) (err error) {
		p.Load.FlowsBy, err = oneOf(v, trial.FlowsByPorts, trial.FlowsByAddresses, trial.FlowsByBoth)
		return err
	},
	"frame_size": func(p *Point, v any) (err error) {
		p.Load.FrameSize, err = whole(v, api.MinFrame, api.MaxFrame)
		return err
	},
	"payload_size": func(p *Point, v any) error {
		n, err := quantity(v, parseSize)
		p.Load.PayloadSize = api.Size(n)
		return err
	},
	"request_size": func(p *Point, v any) error {
		n, err := quantity(v, parseSize)
		p.Load.RequestSize = api.Size(n)
		return err
	},
	"response_size": func(p *Point, v any) error {
		n, err := quantity(v, parseSize)
		p.Load.ResponseSize = api.Size(n)
		return err
	},
	"request_rate": func(p *Point, v any) (err error) {
		p.Load.RequestRate, err = whole(v, api.MinRequests, api.MaxRequests)
		return err
	},
	"rate": func(p *Point, v any) error {
		r, err := loadRate(v)
		p.Load.Rate = r
		return err
	},
	"duration": func(p *Point, v any) error {
		d, err := duration(v)
		p.Load.Duration = api.Duration(d)
		return err
	},
	"zerocopy": func(p *Point, v any) (err error) { p.Load.Zerocopy, err = boolean(v); return err },
	"affinity": func(p *Point, v any) (err error) { p.Load.Affinity, err = text(v); return err },
	"tool":     func(p *Point, v any) (err error) { p.Load.Tool, err = text(v); return err },
}

// Fields are the names a sweep may vary besides paths, in alphabetical order.
func Fields() []string {
	all := append(slices.Collect(maps.Keys(fields)), api.SweepFields()...)
	slices.Sort(all)
	return slices.Compact(all)
}

// varied tells the fields that a sweep may vary.
func varied(field string) bool {
	_, copied := api.CopiedFunction(field)
	return copied || fields[field] != nil || api.InTemplate(field)
}

// put sets one factor of a point that no template is needed for.
func (p *Point) put(field string, v any) error {
	p.Factors[field] = v
	switch name, copied := api.CopiedFunction(field); {
	case p.Infeasible != "" || api.InTemplate(field):
		return nil
	case copied:
		return p.copyOne(name, v)
	case fields[field] == nil:
		return unknownField(field)
	}
	return fields[field](p, v)
}

func unknownField(field string) error {
	return fmt.Errorf("cannot vary %q; a sweep varies %s, or a path such as chain.mtu or load.tool", field, strings.Join(Fields(), ", "))
}

func duration(v any) (time.Duration, error) {
	s, err := text(v)
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%v is not a duration, such as 30s", v)
	}
	return d, nil
}
