package report

import (
	"strconv"

	"nfchain.dev/nfchain/internal/trial"
)

// frameFields are those of a generator that makes its own frames.
var frameFields = []field{
	whole("frame_size", "frame", "-byte frames", func(c trial.Condition) int { return c.FrameSize }),
	{"imix", "IMIX", imixText, false, imixWords, imixText},
	{"pattern", "pattern", patternText, false, patternText, patternText},
	whole("burst", "burst", " frames in a burst", func(c trial.Condition) int { return c.Burst }),
	{"bidirectional", "both ways", func(c trial.Condition) string { return yesNo(c.Bidirectional) }, false, waysWords,
		func(c trial.Condition) string { return strconv.FormatBool(c.Bidirectional) }},
	whole("ip_version", "IP", " as IP version", func(c trial.Condition) int { return c.IPVersion }),
	whole("vlan", "VLAN", " as VLAN", func(c trial.Condition) int { return c.VLAN }),
	{"flows_by", "flows by", flowsByText, false, flowsByWords, flowsByText},
}

// whole is a field that is a number, not set where it is zero.
func whole(name, head, words string, of func(trial.Condition) int) field {
	text := func(c trial.Condition) string { return rawUnlessZero(float64(of(c))) }
	return field{name, head, text, false, func(c trial.Condition) string {
		if of(c) == 0 {
			return ""
		}
		return text(c) + words
	}, text}
}

func flowsByText(c trial.Condition) string { return c.FlowsBy }

func flowsByWords(c trial.Condition) string {
	switch c.FlowsBy {
	case "":
		return ""
	case trial.FlowsByBoth:
		return "flows by ports and addresses"
	}
	return "flows by " + c.FlowsBy
}

func imixText(c trial.Condition) string    { return c.IMIX }
func patternText(c trial.Condition) string { return c.Pattern }

func imixWords(c trial.Condition) string {
	if c.IMIX == "" {
		return ""
	}
	return "IMIX " + c.IMIX
}

func waysWords(c trial.Condition) string {
	if c.Bidirectional {
		return "both ways"
	}
	return "one way"
}
