package v1alpha1

import (
	"fmt"
	"regexp"
	"strconv"
)

// byCores are flows that are said by the machine's cores.
var byCores = regexp.MustCompile(`^cores(?:([*/])([1-9][0-9]{0,3}))?$`)

// FlowsByCores tells whether a value of the factor flows is said by the machine's cores:
// cores, cores/2 or cores*2.
func FlowsByCores(v any) bool {
	text, is := v.(string)
	return is && byCores.MatchString(text)
}

// FlowsOn is how many flows a value comes to that is said by cores, on a machine with so
// many; a share is rounded down. ok is false where that is none, and for other values.
func FlowsOn(v any, cores int) (flows int, ok bool) {
	text, _ := v.(string)
	parts := byCores.FindStringSubmatch(text)
	if parts == nil {
		return 0, false
	}
	flows = cores
	if n, err := strconv.Atoi(parts[2]); err == nil && parts[1] == "/" {
		flows /= n
	} else if err == nil {
		flows *= n
	}
	return flows, flows >= MinFlows && flows <= MaxFlows
}

// flowsOf is a number, or cores as they are written.
func flowsOf(v any) (any, error) {
	if FlowsByCores(v) {
		return v, nil
	}
	if _, is := v.(int); !is {
		return nil, fmt.Errorf("a whole number, or cores, cores/2 or cores*2, is expected, found %s", shown(v))
	}
	return wholeBetween(v, MinFlows, MaxFlows)
}
