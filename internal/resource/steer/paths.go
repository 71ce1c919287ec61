package steer

import (
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/bpf/classify"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Paths says that packets go on by the path that their flow is on, both ways. All ports of a chain
// know of the same flows.
type Paths struct {
	// Ways of the paths that lead on from the port.
	Ways []Way `json:"ways"`
	// Choice is how flows that begin here get their path, and End which end of the chain is behind the
	// port; nil and 0 between functions.
	Choice *Choice `json:"choice,omitempty"`
	End    int     `json:"end,omitempty"`
	// Usual is the path of flows that no path leads on from here, between functions.
	Usual string `json:"usual,omitempty"`
	// Learns tells that the function before translates addresses: flows that are not known here, or are
	// on a path that does not lead on, are on the usual one from then on.
	Learns bool `json:"learns,omitempty"`
	// Opens tells that the function before has a program of its own, which may open flows: these are on the usual
	// path.
	Opens bool `json:"opens,omitempty"`
	// Headed tells that the function before gives frames back behind headers, which say the path that each is on.
	Headed bool `json:"headed,omitempty"`
	// Other is the path of packets without a flow, between functions, if it leads on.
	Other *string `json:"other,omitempty"`
	// Among are the functions with replicas that paths lead to, or may be led on to from here.
	Among []Among `json:"among,omitempty"`
	// Flows that are known at once. Of more, those not seen for longest are forgotten.
	Flows uint32 `json:"flows"`
	// Idle is a flow that had no packet for so long: when rules are others by then, it is a new one.
	Idle api.Duration `json:"idle"`
}

// Way of a path from a port.
type Way struct {
	// Path is the functions that it goes by; "" is the direct one.
	Path string `json:"path"`
	// Number of the path, from 1 to MostPaths, which is the same at all of a chain's ports.
	Number int `json:"number"`
	// Port that it leads to; "" where it leads to one of the replicas of a function.
	Port string `json:"port,omitempty"`
	// Of is that function, which is among those of the port.
	Of string `json:"of,omitempty"`
	// Behind tells that what is on the path goes on by what the spec of the port says besides.
	Behind bool `json:"behind,omitempty"`
}

// MostPaths are the numbers that paths can have.
const MostPaths = 255

// PathsName is what this version's programs are called that send packets on by paths.
var PathsName = held.Name(Mark, classify.Object())

// FrontName is what they are called where they stand before others.
var FrontName = held.Name(held.FrontMark, classify.Object())

// behind stands in the place of a port, as bpf/classify/classify.c has it: packets go on by the program behind this one.
const behind = byDevice

// behindText is that in words.
const behindText = "the program behind"

// isByPaths tells whether a program is this version's and sends packets on by paths, before others or not.
func (a *attached) isByPaths() bool { return a.Name == PathsName || a.Name == FrontName }

func (p Paths) numbers() map[string]int {
	all := map[string]int{}
	for _, w := range p.Ways {
		all[w.Path] = w.Number
	}
	return all
}

// shared are the functions with replicas that paths lead to, each in its place; "" where one leads to a port.
func (p Paths) shared() (of []string) {
	for _, w := range p.Ways {
		of = append(of, w.Of)
	}
	return of
}

// way is where a path leads, as the kernel has it.
func (w Way) of(port uint32) classify.ProgramWay {
	return classify.ProgramWay{Port: port, Check: checkOf(w.Path)}
}

func (p Paths) text() string {
	ways := map[int]string{}
	for _, w := range p.Ways {
		to := w.Port
		switch {
		case w.Of != "":
			to = table(w.Of)
		case w.Behind:
			to = behindText
		}
		ways[w.Number] = wayText(checkOf(w.Path), to)
	}
	var among []string
	for _, a := range p.Among {
		among = append(among, a.text())
	}
	if p.Choice != nil {
		return sharedText(enterText(ways, p.End, digestText(p.Choice.digest(p.numbers())), p.Flows), among)
	}
	h := p.habit()
	return sharedText(betweenText(ways, h, p.Flows), among)
}

// To is the port that a path leads to; "" where it does not lead on, or to one of several replicas.
func (p Paths) To(path string) string {
	for _, w := range p.Ways {
		if w.Path == path {
			return w.Port
		}
	}
	return ""
}

// Behind tells whether what is on a path goes on as the spec of the port says besides.
func (p Paths) Behind(path string) bool {
	return slices.ContainsFunc(p.Ways, func(w Way) bool { return w.Path == path && w.Behind })
}

// habit of a port between functions, as the kernel has it.
func (p Paths) habit() (h classify.ProgramHabit) {
	numbers := p.numbers()
	h.Usual, h.Check = uint32(numbers[p.Usual]), checkOf(p.Usual)
	if p.Learns {
		h.Learns = 1
	}
	if p.Opens {
		h.Opens = 1
	}
	if p.Headed {
		h.Headed = 1
	}
	if p.Other != nil && numbers[*p.Other] != 0 {
		h.Other, h.OtherCheck = uint32(numbers[*p.Other]), checkOf(*p.Other)
	}
	return h
}

func wayText(check uint32, port string) string { return fmt.Sprintf("%08x to %s", check, port) }

// waysText says all that the kernel knows of where paths lead.
func waysText(ways map[int]string) string {
	var all []string
	for n, text := range ways {
		all = append(all, fmt.Sprintf("%d %s", n, text))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func enterText(ways map[int]string, end int, digest string, flows uint32) string {
	return fmt.Sprintf("by rules %s from end %d: paths %s, with %d flows", digest, end, waysText(ways), flows)
}

func betweenText(ways map[int]string, h classify.ProgramHabit, flows uint32) string {
	headed := ""
	if h.Headed != 0 {
		headed = ", or its header"
	}
	return fmt.Sprintf("by path%s: %s, else %d-%08x (learns %d, opens %d, other %d-%08x), with %d flows", headed, waysText(ways), h.Usual, h.Check, h.Learns, h.Opens, h.Other, h.OtherCheck, flows)
}

// sharedText says which replicas there are besides where paths lead.
func sharedText(text string, among []string) string {
	slices.Sort(among)
	return strings.Join(append([]string{text}, among...), "; ")
}
