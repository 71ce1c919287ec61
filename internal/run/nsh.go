package run

import (
	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/nsh"
	"nfchain.dev/nfchain/internal/trace"
)

// NSHState is what a function got and gave back behind Network Service Headers (RFC 8300), by the
// direction of packets.
type NSHState struct {
	Forward NSHWay `json:"forward"`
	Reverse NSHWay `json:"reverse"`
	// Paths are what it reads on each of several, by which frames of all counts above are; absent where there is one.
	Paths []plan.NSHPath `json:"paths,omitempty"`
}

// NSHWay is one direction, since the programs are there.
type NSHWay struct {
	nsh.Hop
	// Given are the frames that the function got, and Back those that it gave back and that went on.
	Given uint64 `json:"given"`
	Back  uint64 `json:"back"`
	// Undiminished are those of Back whose service index was as it was given.
	Undiminished uint64 `json:"undiminished"`
	// Dropped is what the function gave back and that did not go on.
	Dropped NSHDropped `json:"dropped"`
}

// NSHDropped are frames by the reason why they did not go on.
type NSHDropped struct {
	// Plain had no header, Malformed one that is wrong, or no frame behind it.
	Plain     uint64 `json:"plain"`
	Malformed uint64 `json:"malformed"`
	// Unknown were of another service path, or had an index that no frame was given.
	Unknown uint64 `json:"unknown"`
	// Expired had a service index of 0, or had come to the end of their hop limit.
	Expired uint64 `json:"expired"`
}

// whole reads what became of the frames of a function that gets them whole; nil for another, and
// where its programs are not there.
func whole(p *plan.Plan, n plan.Node, at resource.Place) (*NSHState, error) {
	if n.NSH == nil || !netns.Exists(p.Between()) {
		return nil, nil
	}
	h, err := netns.Open(p.Between())
	if err != nil {
		return nil, err
	}
	defer h.Close()
	forwarder := resource.At(h, p.Chain)
	s := &NSHState{Forward: NSHWay{Hop: n.NSH.Forward}, Reverse: NSHWay{Hop: n.NSH.Reverse}, Paths: n.NSH.Paths}
	for _, way := range []struct {
		*NSHWay
		in, out string
	}{{&s.Forward, n.West.Device, n.East.Device}, {&s.Reverse, n.East.Device, n.West.Device}} {
		given, there, err := nsh.CountAt(at, way.in)
		if err != nil || !there {
			return nil, err
		}
		back, there, err := nsh.CountAt(forwarder, portBehind(p, n, way.out))
		if err != nil || !there {
			return nil, err
		}
		way.Given, way.Back, way.Undiminished = given.Frames, back.Frames, back.Kept
		way.Dropped = NSHDropped{Plain: back.Plain, Malformed: back.Malformed, Unknown: back.Unknown, Expired: back.Expired}
	}
	return s, nil
}

// dropped is what a function gave back and that did not go on, by why.
func (s *NSHState) dropped(function string) (all []trace.StepCount) {
	if s == nil {
		return nil
	}
	for _, way := range []struct {
		name api.Direction
		NSHDropped
	}{{api.Forward, s.Forward.Dropped}, {api.Reverse, s.Reverse.Dropped}} {
		for _, d := range []struct {
			why     string
			packets uint64
		}{
			{"because they had no header", way.Plain}, {"because their header or the frame behind it was malformed", way.Malformed},
			{"because their header was of another service path, or had an index that no frame is given", way.Unknown},
			{"because their service index was 0, or their hop limit at its end", way.Expired},
		} {
			all = append(all, trace.StepCount{Function: function, Direction: string(way.name), Did: "dropped", Why: d.why, Packets: d.packets})
		}
	}
	return all
}

// portBehind an interface of a node.
func portBehind(p *plan.Plan, n plan.Node, device string) string {
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is && s.A.Namespace == n.Namespace && s.A.Device == device {
			return s.B.Device
		}
	}
	return ""
}
