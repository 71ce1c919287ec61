package report

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"nfchain.dev/nfchain/internal/trial"
)

// elsewhere are fields of a condition that tables show in their own ways.
var elsewhere = []string{"search", "factors"}

// conditionFields are the names of a condition's fields, by its JSON.
func conditionFields(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			names = append(names, conditionFields(f.Type)...)
		case !slices.Contains(elsewhere, name):
			names = append(names, name)
		}
	}
	return names
}

// TestEveryFieldOfAConditionIsTold by tables and by every format of rows.
func TestEveryFieldOfAConditionIsTold(t *testing.T) {
	var columns []string
	for _, f := range parquet.SchemaOf(parquetRow{}).Fields() {
		columns = append(columns, f.Name())
	}
	names := conditionFields(reflect.TypeFor[trial.Condition]())
	for _, name := range names {
		if !isField(name) {
			t.Errorf("%s has no column in tables", name)
		}
		if !slices.Contains(columns, name) {
			t.Errorf("%s has no column in Parquet", name)
		}
	}
	if len(names) < 20 {
		t.Errorf("the test sees %v alone", names)
	}
}

// TestChainsBesideAreTold where all conditions have them, and where there are none they are not.
func TestChainsBesideAreTold(t *testing.T) {
	for chains, want := range map[int]bool{0: false, 3: true} {
		run := trial.Run{Repeats: 1}
		c := trial.Condition{Path: trial.PathChain, Protocol: trial.TCP, Flows: 1}
		c.ActiveChains = chains
		addCondition(&run, c, func() map[string]float64 { return map[string]float64{"goodput_bps": 1e9} })
		var b strings.Builder
		if err := Text(&b, New(run)); err != nil || strings.Contains(b.String(), "ACTIVE CHAINS") != want {
			t.Errorf("%d active chains: %v\n%s", chains, err, b.String())
		}
	}
}

// TestConditionsBesideOthersAreToldApart, also where nothing of that was swept.
func TestConditionsBesideOthersAreToldApart(t *testing.T) {
	one, three := trial.Condition{Path: trial.PathChain, Protocol: trial.TCP}, trial.Condition{Path: trial.PathChain, Protocol: trial.TCP}
	three.ActiveChains, three.IdleContainers = 3, 100
	name := labels([]trial.Summary{{Condition: one}, {Condition: three}})
	for want, c := range map[string]trial.Condition{"TCP, 1 active chain, 0 idle containers": one, "TCP, 3 active chains, 100 idle containers": three} {
		if got := name.of(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
