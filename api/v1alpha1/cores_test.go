package v1alpha1

import (
	"strings"
	"testing"
)

func TestFlowsByCores(t *testing.T) {
	for text, want := range map[string]int{"cores": 6, "cores/2": 3, "cores/4": 1, "cores/7": 0, "cores*2": 12, "cores*9999": 59994} {
		n, ok := FlowsOn(text, 6)
		if n != want || ok != (want > 0) || !FlowsByCores(text) {
			t.Errorf("%s on 6 cores: %d, %t", text, n, ok)
		}
		if v, err := flowsOf(text); err != nil || v != text {
			t.Errorf("%s is decoded as %v, %v", text, v, err)
		}
	}
	for _, v := range []any{"core", "cores/0", "cores /2", "2*cores", "cores+1", "cores*12345", 0, 1.5, nil, "8"} {
		if _, ok := FlowsOn(v, 6); ok || FlowsByCores(v) {
			t.Errorf("%v was taken for cores", v)
		}
		if got, err := flowsOf(v); err == nil {
			t.Errorf("%v is decoded as %v", v, got)
		}
	}
}

// TestChecksOverFlowsByCores: what they come to is left to the machine.
func TestChecksOverFlowsByCores(t *testing.T) {
	const text = `
apiVersion: nfchain.dev/v1alpha1
kind: Experiment
metadata: {name: cores}
spec:
  sweep: [{field: flows, values: [1, cores, cores*2]}]
  claims:
  - {id: a, text: t, check: {kind: rises, metric: goodput_bps, over: flows, values: [1, cores], at_least: 0.5}}
  - {id: b, text: t, check: {kind: peak, metric: goodput_bps, over: flows, at_least: 4}}
  - {id: c, text: t, check: {kind: ratio, metric: goodput_bps, a: {flows: cores}, b: {flows: cores*2}, at_most: 1}}
`
	claims := mustDecode(t, []byte(text)).Experiments[0].Spec.Claims
	equal(t, "value", claims[0].Check.Values[1], any("cores"))
	equal(t, "selection", claims[2].Check.B["flows"], any("cores*2"))
	if _, err := testCatalogue().Decode("file", []byte(strings.Replace(text, "a: {flows: cores}", "a: {flows: cores/2}", 1))); err == nil {
		t.Error("cores/2 is not among the values of the sweep")
	}
}
