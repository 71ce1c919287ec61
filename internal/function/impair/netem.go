package impair

import (
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/qdisc"
)

// beyondNetem lists the fields that netem cannot do, and why.
func (o *Options) beyondNetem() map[string]string {
	beyond := map[string]string{}
	for path, p := range map[string]Pick{"loss.every": o.Loss, "duplicate.every": o.Duplicate} {
		if p.Every != 0 {
			beyond[path] = "netem picks packets at random; use ratio, or backend: tun"
		}
	}
	if o.Reorder.Pick != (Pick{}) {
		beyond["reorder"] = "netem does not put packets behind a number of others; use backend: tun"
	}
	return beyond
}

func (o *Options) checkNetem(add func(path, format string, args ...any)) {
	if o.Backend != netem {
		return
	}
	for path, why := range o.beyondNetem() {
		add(path, "%s", why)
	}
}

// discipline has the kernel impair what leaves.
func (o *Options) discipline(site function.Site) []resource.Resource {
	var out []resource.Resource
	for _, device := range site.Out() {
		out = append(out, resource.New(site.Namespace, qdisc.Spec{
			Device: device, Discipline: qdisc.Netem, Classes: []qdisc.Class{},
			Impair: &qdisc.Impair{
				DelayNS: uint64(o.Delay), JitterNS: uint64(o.Jitter), Loss: o.Loss.Ratio, Duplicate: o.Duplicate.Ratio,
				LimitPackets: uint32(o.Limit),
			},
		}, site.Needs...))
	}
	return out
}
