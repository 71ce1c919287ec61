package iperf3

import "nfchain.dev/nfchain/internal/trial"

// series is the goodput of all flows by the second, as the receivers counted it.
// It ends with the shortest flow: a sum that lacks one is of something else.
func series(flows []flow) map[string]trial.Series {
	if len(flows) == 0 {
		return nil
	}
	length := len(flows[0].bySecond)
	for _, f := range flows {
		length = min(length, len(f.bySecond))
	}
	if length == 0 {
		return nil
	}
	values := make([]*float64, length)
	for t := range values {
		sum := 0.0
		for _, f := range flows {
			sum += f.bySecond[t]
		}
		values[t] = &sum
	}
	return map[string]trial.Series{"goodput_bps": {StepS: 1, Values: values}}
}
