package main

import (
	"bytes"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/observe/told"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/ruleset"
	runs "nfchain.dev/nfchain/internal/run"
)

// TestMetricsOfWhatIsTold takes what two programs say of the same name in different ways.
func TestMetricsOfWhatIsTold(t *testing.T) {
	state := runs.State{Chain: "edge", State: runs.StateUp}
	for name, text := range map[string]string{
		"a": "# HELP same By a.\n# TYPE same gauge\nsame{x=\"1\"} -1\n# TYPE done_total counter\ndone_total 2",
		"b": "# TYPE same counter\nsame{y=\"\\\"\\\\\"} 3\n# TYPE done counter\ndone 4\n# TYPE temperature gauge\ntemperature 1\nbare:one 1e300",
	} {
		families, err := told.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		state.Nodes = append(state.Nodes, runs.NodeState{Name: name, State: runs.StateUp, Program: &process.Status{State: process.Running}, Told: &told.Told{Families: families}})
	}
	if state.Nodes[0].Name != "a" {
		state.Nodes[0], state.Nodes[1] = state.Nodes[1], state.Nodes[0]
	}
	var b bytes.Buffer
	if err := metricsOf(&b, state); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"# TYPE same gauge", `same{chain="edge",node="a",x="1"} -1.0`, `same_total{chain="edge",node="b",y="\"\\"} 3.0`,
		`done_total{chain="edge",node="a"} 2.0`, `done_total{chain="edge",node="b"} 4.0`, `bare:one{chain="edge",node="b"} 1e+300`,
		`nfchain_program_ready{chain="edge",node="b"} 1.0`, `nfchain_up{chain="edge"} 1.0`, `temperature{chain="edge",node="b"} 1.0`, "# EOF",
	} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("no line %s in\n%s", line, b.String())
		}
	}
	if n := strings.Count(b.String(), "# TYPE done counter"); n != 1 {
		t.Errorf("%d families done:\n%s", n, b.String())
	}
}

// TestMetricsOfWhatIsCounted are of each hop, function and rule once, though a node has two ports to another.
func TestMetricsOfWhatIsCounted(t *testing.T) {
	tally := func(packets uint64) runs.Tally { return runs.Tally{Packets: packets, Bytes: 100 * packets} }
	pass := &runs.PassState{Interface: "port1", Beside: []string{"port2"}, Came: tally(7), Malformed: tally(1)}
	state := runs.State{Chain: "edge", State: runs.StateUp, Path: &runs.PathState{Older: 5, Kept: 6},
		Nodes: []runs.NodeState{{Name: "fw", State: runs.StateUp,
			Rules:   []ruleset.Counter{{Rule: 1, Verdict: "drop", Packets: 3, Bytes: 300}, {Rule: 1, Verdict: "drop", Packets: 4, Bytes: 400}, {Rule: 2, Comment: "web", Packets: 1}},
			Dropped: &ruleset.Dropped{Packets: 9}, Passes: []runs.PassState{{Interface: "eth0", Steps: []runs.StepState{{Function: "f", Act: "drop", Tally: tally(8)}}}},
			Through: []runs.ThroughState{{Interface: "eth0", To: "eth1", Direction: "forward", Tally: tally(10)}}}},
		Inline: []runs.InlineState{{Name: "n", Forward: &runs.StepState{Act: "nat", Tally: tally(11), Lost: 12, Full: 13}, Connections: &runs.TableState{Known: 14, Most: 15, Evicted: 16},
			Reverse:      &runs.StepState{Act: "limit", Buckets: &runs.TableState{Known: 32, Most: 33, Evicted: 34}},
			Translations: []runs.TranslationState{{From: "198.18.0.9", Connections: 17}}}},
		Hops: []runs.HopState{{From: "a", To: "b", Packets: 18, Pass: pass}, {From: "a", To: "b", Packets: 2, Ended: 1}, {From: "a", To: "b", Marks: "mark 0x7", Packets: 19},
			{From: "c", To: "b", Pass: &runs.PassState{Interface: "port2", Beside: []string{"port1"}, Came: tally(7)}}, {From: "client", To: "server", Direct: true, Bytes: 21}},
		Shared:     []runs.SharedState{{Function: "r", New: 22, Replicas: []runs.ReplicaState{{Node: "r-1", Flows: 23, Busy: 24}}}},
		Branches:   &runs.BranchState{Flows: 25, Unknown: 26},
		Classifier: &runs.ClassifierState{Rules: []runs.PathRuleState{{Rule: "web", Path: []string{"a", "b"}, RuleFlows: runs.RuleFlows{Flows: 27, Packets: 28}}, {Rule: "otherwise", Drop: true}}, Earlier: runs.RuleFlows{Flows: 29}, New: 30},
		Taps:       []runs.TapState{{Name: "m-tap", Programs: []runs.TapProgram{{PID: 31, Command: "tcpdump", CPUS: 1.5}}}},
	}
	var b bytes.Buffer
	if err := metricsOf(&b, state); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`nfchain_rule_packets_total{chain="edge",node="fw",rule="1",verdict="drop"} 7.0`, `nfchain_rule_packets_total{chain="edge",comment="web",node="fw",rule="2"} 1.0`,
		`nfchain_policy_dropped_packets_total{chain="edge",node="fw"} 9.0`, `nfchain_step_packets_total{act="drop",chain="edge",function="f",interface="eth0",node="fw"} 8.0`,
		`nfchain_passed_on_bytes_total{chain="edge",direction="forward",interface="eth0",node="fw",to="eth1"} 1000.0`,
		`nfchain_step_bytes_total{act="nat",chain="edge",direction="forward",function="n"} 1100.0`, `nfchain_nat_dropped_packets_total{act="nat",chain="edge",direction="forward",function="n",reason="no connection"} 12.0`,
		`nfchain_nat_dropped_packets_total{act="nat",chain="edge",direction="forward",function="n",reason="no port"} 13.0`, `nfchain_connections{chain="edge",function="n"} 14.0`,
		`nfchain_buckets{act="limit",chain="edge",direction="reverse",function="n"} 32.0`, `nfchain_buckets_limit{act="limit",chain="edge",direction="reverse",function="n"} 33.0`,
		`nfchain_buckets_evicted_total{act="limit",chain="edge",direction="reverse",function="n"} 34.0`,
		`nfchain_connections_limit{chain="edge",function="n"} 15.0`, `nfchain_connections_evicted_total{chain="edge",function="n"} 16.0`,
		`nfchain_translated_connections_total{chain="edge",from="198.18.0.9",function="n"} 17.0`, `nfchain_hop_packets_total{chain="edge",direct="false",from="a",to="b"} 20.0`,
		`nfchain_hop_ended_packets_total{chain="edge",direct="false",from="a",to="b"} 1.0`, `nfchain_hop_packets_total{chain="edge",direct="false",from="a",marks="mark 0x7",to="b"} 19.0`,
		`nfchain_hop_bytes_total{chain="edge",direct="true",from="client",to="server"} 21.0`, `nfchain_pass_packets_total{chain="edge",from="a, c",to="b"} 7.0`,
		`nfchain_pass_malformed_packets_total{chain="edge",from="a, c",to="b"} 1.0`, `nfchain_shared_new_flows_total{chain="edge",function="r"} 22.0`,
		`nfchain_replica_flows{chain="edge",function="r",node="r-1"} 23.0`, `nfchain_replica_busy_flows{chain="edge",function="r",node="r-1"} 24.0`,
		`nfchain_branch_flows{chain="edge"} 25.0`, `nfchain_branch_unknown_packets_total{chain="edge"} 26.0`, `nfchain_older_flows{chain="edge"} 5.0`, `nfchain_older_kept_flows{chain="edge"} 6.0`,
		`nfchain_classifier_flows{chain="edge",path="a b",place="1",rule="web"} 27.0`, `nfchain_classifier_packets_total{chain="edge",path="a b",place="1",rule="web"} 28.0`,
		`nfchain_classifier_flows{chain="edge",path="drop",place="2",rule="otherwise"} 0.0`, `nfchain_classifier_flows{chain="edge",rule="earlier"} 29.0`, `nfchain_classifier_new_flows_total{chain="edge"} 30.0`,
		`nfchain_tap_cpu_seconds_total{chain="edge",command="tcpdump",pid="31",tap="m-tap"} 1.5`,
	} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("no line %s in\n%s", line, b.String())
		}
	}
}
