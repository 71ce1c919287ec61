package rules

import (
	"fmt"

	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// Classify makes a table of rules that say no more than which of them is the first to match: by
// addresses, protocol (its name or number) and ports, and by a class of packets, which stands for whatever else is asked of
// them; in tells which rules match those of a class. It gives up as soon as that would take more bytes
// than most.
func Classify(rules []ruleset.Rule, classes int, in func(rule, class int) bool, most int) (*Table, error) {
	if len(rules) >= mostRules {
		return nil, fmt.Errorf("%d rules are more than a table holds, which is %d", len(rules), mostRules-1)
	}
	if kinds := classes * families * 4 << 8; kinds > most {
		return nil, fmt.Errorf("what is asked of packets makes %d classes of them, whose table would take %d MB of memory, of %d", classes, kinds>>20, most>>20)
	}
	c := contentOf(rules, most)
	c.kinds = c.kindsOf(rules, classes, in)
	c.accepts = make([]uint64, len(rules)/64+1)
	return c.table(most)
}
