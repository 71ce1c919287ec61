package v1alpha1

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"nfchain.dev/nfchain/api/v1alpha1/internal/nearest"
)

// The bounds of swept numbers. Beyond so long a chain a typing error is likelier.
const (
	MinLength, MaxLength = 2, 4096
	MinFlows, MaxFlows   = 1, 1 << 20
	MinFrame, MaxFrame   = 64, 9216

	MinRequests, MaxRequests = 1, 1_000_000
)

// valueTypes bring a factor's value, as decoded with no type to go by, to the
// type that [Factor] promises; nil and an error if it is none.
var valueTypes = map[string]func(any) (any, error){
	"length":        func(v any) (any, error) { return wholeBetween(v, MinLength, MaxLength) },
	"flows":         flowsOf,
	"payload_size":  func(v any) (any, error) { return quantityOf(v, ParseSize) },
	"request_size":  func(v any) (any, error) { return quantityOf(v, ParseSize) },
	"response_size": func(v any) (any, error) { return quantityOf(v, ParseSize) },
	"rate":          loadRateOf,
	"request_rate":  func(v any) (any, error) { return wholeBetween(v, MinRequests, MaxRequests) },
	"zerocopy":      onOff,
	"protocol":      protocolOf,
	"affinity":      affinityOf,
	"frame_size":    func(v any) (any, error) { return wholeBetween(v, MinFrame, MaxFrame) },
	"flows_by":      flowsByOf,
}

// protocols a condition may use, as package trial has them.
var protocols = []string{"tcp", "udp", protocolLatency, "tcp_rr", protocolUDPRR, "tcp_crr", "rfc6349", protocolHTTP}

const (
	// protocolHTTP is the one of them that asks a web server.
	protocolHTTP = "http"
	// protocolUDPRR is that of datagrams that are answered.
	protocolUDPRR = "udp_rr"
	// protocolLatency is that of single messages.
	protocolLatency = "latency"
)

// flowRules are the rules by which flows may differ, as package trial has them.
var flowRules = []string{"ports", "addresses", "both"}

func flowsByOf(v any) (any, error) {
	text, ok := v.(string)
	if !ok || !slices.Contains(flowRules, text) {
		return nil, errors.New(shown(v) + " is nothing that flows differ in" + nearest.Hint(text, flowRules))
	}
	return text, nil
}

// transactions are those of them that send requests and wait for responses.
var transactions = []string{"tcp_rr", protocolUDPRR, "tcp_crr"}

func wholeBetween(v any, least, most int) (any, error) {
	n, ok := v.(int)
	if !ok {
		return nil, errors.New("a whole number is expected, found " + shown(v))
	}
	if n < least || n > most {
		return nil, fmt.Errorf("%d is not between %d and %d", n, least, most)
	}
	return n, nil
}

func quantityOf[Q ~uint64](v any, parse func(string) (Q, error)) (any, error) {
	switch v.(type) {
	case string, int, float64:
	default:
		return nil, errors.New("a number, perhaps with a unit, is expected, found " + shown(v))
	}
	q, err := parse(plainText(v))
	switch {
	case err != nil:
		return nil, err
	case q == 0:
		return nil, errors.New("0 cannot be had; leave the value out")
	}
	return int(q), nil
}

// loadRateOf is a number of bits, or a rate of frames in its one form as text.
func loadRateOf(v any) (any, error) {
	switch v.(type) {
	case string, int, float64:
	default:
		return nil, errors.New("a number, perhaps with a unit, is expected, found " + shown(v))
	}
	r, err := ParseLoadRate(plainText(v))
	switch {
	case err != nil:
		return nil, err
	case r.Frames > 0:
		return r.String(), nil
	case r.Bits == 0:
		return nil, errors.New("0 cannot be had; leave the value out")
	}
	return int(r.Bits), nil
}

func onOff(v any) (any, error) {
	if on, ok := v.(bool); ok {
		return on, nil
	}
	return nil, errors.New("true or false is expected, found " + shown(v))
}

func protocolOf(v any) (any, error) {
	text, ok := v.(string)
	if !ok || !slices.Contains(protocols, text) {
		return nil, errors.New(shown(v) + " is not a protocol" + nearest.Hint(text, protocols))
	}
	return text, nil
}

func affinityOf(v any) (any, error) {
	text, ok := v.(string)
	if !ok {
		return nil, errors.New("text is expected, found " + shown(v) + "; a list of one CPU is written in quotes")
	}
	if message := AffinityProblem(text); message != "" {
		return nil, errors.New(message)
	}
	return text, nil
}

// plainText writes a number without an exponent.
func plainText(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// shown is a value as a message shows it.
func shown(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	return quote(plainText(v))
}
