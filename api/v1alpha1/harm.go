package v1alpha1

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nfchain.dev/nfchain/api/v1alpha1/internal/nearest"
)

// What can be taken from a chain.
const (
	// HarmSupervisor kills what keeps the chain's programs running.
	HarmSupervisor = "supervisor"
	// HarmProgram kills a node's program, or its container's first process.
	HarmProgram = "program"
	// HarmStopped holds a node's program still (SIGSTOP), or its container's first process.
	HarmStopped = "stopped"
	// HarmInterface removes a node's interface to its western neighbour, or the first endpoint's.
	HarmInterface = "interface"
)

// harmsOfNodes are those that name one.
var harmsOfNodes = []string{HarmProgram, HarmStopped, HarmInterface}

// Harm is one thing that is taken from a chain.
type Harm struct {
	What string
	// Node that it is taken from; "" for the supervisor.
	Node string
}

// ParseHarm reads what is taken from a chain, separated by commas.
func ParseHarm(text string) (all []Harm, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		switch {
		case len(words) == 1 && words[0] == HarmSupervisor:
			all = append(all, Harm{What: HarmSupervisor})
		case len(words) == 2 && slices.Contains(harmsOfNodes, words[0]):
			all = append(all, Harm{words[0], words[1]})
		case len(words) == 0:
			return nil, errors.New("there is nothing before or behind a comma")
		default:
			hint := ""
			if known := append([]string{HarmSupervisor}, harmsOfNodes...); !slices.Contains(known, words[0]) {
				hint = nearest.Hint(words[0], known)
			}
			return nil, fmt.Errorf("%s is no harm; write %s, %s NODE, %s NODE or %s NODE, several with commas between%s", quote(strings.TrimSpace(part)),
				HarmSupervisor, HarmProgram, HarmStopped, HarmInterface, hint)
		}
	}
	return all, nil
}

func checkHarm(text string) string {
	if _, err := ParseHarm(text); err != nil {
		return err.Error()
	}
	return ""
}
