package builtin

import (
	"errors"
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Check says what is wrong with a condition that comes from no file.
func Check(c trial.Condition) error {
	if c.FrameSize != 0 && (c.FrameSize < 64 || c.FrameSize > 9216) {
		return fmt.Errorf("a frame has 64 to 9216 bytes, its check sequence counted, not %d", c.FrameSize)
	}
	if c.FrameSize > 0 && c.IMIX != "" {
		return errors.New("a load has frames of one size or a mix, not both")
	}
	if c.IMIX != "" {
		if _, err := parseGenome(c.IMIX); err != nil {
			return err
		}
	}
	if c.Pattern != "" && c.Pattern != periodic && c.Pattern != poisson {
		return fmt.Errorf("frames are sent %s or %s, not %q", periodic, poisson, c.Pattern)
	}
	if !slices.Contains([]string{"", trial.FlowsByPorts, trial.FlowsByAddresses, trial.FlowsByBoth}, c.FlowsBy) {
		return fmt.Errorf("flows differ in their %s, %s or %s, not %q", trial.FlowsByPorts, trial.FlowsByAddresses, trial.FlowsByBoth, c.FlowsBy)
	}
	if c.Flows < 1 || c.Flows > maxFlows || c.Burst < 0 || c.VLAN < 0 || c.VLAN > 4094 || c.DurationS < 0 {
		return fmt.Errorf("flows are 1 to %d, a VLAN is 1 to 4094, and bursts and durations are not negative", maxFlows)
	}
	return traffic.CheckAffinity(c.Affinity)
}
