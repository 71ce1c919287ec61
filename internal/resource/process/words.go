package process

import (
	"fmt"
	"strings"
)

// Words are what is watched, as resource.Worded wants them: a line for each thing that is known of a node, and for each path.
func (p Path) Words() (lines []string) {
	lines = append(lines, "forwarder "+p.Forwarder)
	for _, n := range p.Nodes {
		for _, text := range append(n.words(), p.placed(n)...) {
			lines = append(lines, n.Node+": "+text)
		}
	}
	for _, s := range p.Paths {
		line := fmt.Sprintf("path %s (%d): %s", s.Name, s.Number, p.names(s.Nodes))
		if len(s.Back) > 0 {
			line += ", back " + p.names(s.Back)
		}
		lines = append(lines, line)
	}
	return lines
}

// names of nodes by their places.
func (p Path) names(places []int) string {
	var all []string
	for _, at := range places {
		all = append(all, p.Nodes[at].Node)
	}
	return strings.Join(all, ", ")
}

// placed are where packets go on to from a node, and come from.
func (p Path) placed(n Watched) (lines []string) {
	if len(n.Onward) > 0 {
		lines = append(lines, "onward to "+p.names(n.Onward))
	}
	if len(n.Back) > 0 {
		lines = append(lines, "back to "+p.names(n.Back))
	}
	return lines
}

// words are what is known of a node besides.
func (w Watched) words() (lines []string) {
	for _, of := range []struct{ what, value string }{
		{"port to the west", w.West}, {"port to the east", w.East}, {"led past it from the west by", w.PastWest}, {"led past it from the east by", w.PastEast},
		{"if it fails:", w.OnFailure}, {"what it is has the sum", w.Version}, {"fails without", strings.Join(w.Programs, ", ")},
	} {
		if of.value != "" {
			lines = append(lines, of.what+" "+of.value)
		}
	}
	if w.Of != "" {
		lines = append(lines, fmt.Sprintf("replica %d of %s, weight %d", w.Number, w.Of, w.Weight))
	}
	if w.Label != 0 {
		lines = append(lines, fmt.Sprintf("label %d", w.Label))
	}
	if w.OneWay {
		lines = append(lines, "one way")
	}
	return append(lines, w.probeWords()...)
}

func (w Watched) probeWords() (lines []string) {
	for _, of := range []struct {
		way string
		*Probe
	}{{"eastward", w.Eastward}, {"westward", w.Westward}, {"eastward", w.OtherEastward}, {"westward", w.OtherWestward}} {
		if of.Probe != nil {
			lines = append(lines, fmt.Sprintf("probes %s: from %v (%s) to %v (%s)", of.way, of.From, of.FromMAC, of.To, of.ToMAC))
		}
	}
	return lines
}
