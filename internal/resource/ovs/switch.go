package ovs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/resource"
)

// The types of ports, as Open vSwitch has them.
const (
	// Device is an interface of the switch's namespace; here, an end of a veth pair.
	Device = "system"
	// Internal is an interface that the switch makes.
	Internal = "internal"
	// Patch leads to another switch of the same daemon.
	Patch = "patch"
)

// Port of a switch.
type Port struct {
	Name string `json:"name"`
	// Number in flows, from 1.
	Number int    `json:"number"`
	Type   string `json:"type"`
	// Peer is the port at the other end, of type patch alone.
	Peer string `json:"peer,omitempty"`
	// MTU, of type internal alone.
	MTU int `json:"mtu,omitempty"`
}

// SwitchSpec of a switch. The resource lives in the daemons' namespace.
type SwitchSpec struct {
	Owner    string `json:"owner"`
	Name     string `json:"name"`
	Datapath string `json:"datapath"`
	// Joins says what the switch is between, for those who look at it.
	Joins string `json:"joins"`
	Ports []Port `json:"ports"`
	// Flows as ovs-ofctl(8) prints them: "in_port=1 actions=output:2". What no flow
	// matches is dropped.
	Flows []string `json:"flows"`
}

// Kind implements resource.Spec.
func (SwitchSpec) Kind() string { return SwitchKindName }

// Key is the switch's name.
func (s SwitchSpec) Key() string { return s.Name }

// Fingerprint is the datapath, and every port and flow.
func (s SwitchSpec) Fingerprint() string {
	var ports []string
	for _, p := range s.Ports {
		ports = append(ports, p.text())
	}
	return fingerprint(s.Datapath, secure, s.Joins, ports, s.Flows)
}

// secure switches do nothing but what flows say.
const secure = "secure"

func fingerprint(datapath, mode, joins string, ports, flows []string) string {
	ports, flows = slices.Sorted(slices.Values(ports)), slices.Sorted(slices.Values(flows))
	return fmt.Sprintf("datapath=%s fail_mode=%s joins=%s ports: %s; flows: %s", datapath, mode, joins, strings.Join(ports, ", "), strings.Join(flows, ", "))
}

func (p Port) text() string {
	text := fmt.Sprintf("%s %d %s", p.Name, p.Number, p.Type)
	if p.Type == Patch {
		text += " peer=" + p.Peer
	}
	if p.Type == Internal {
		text += " mtu=" + strconv.Itoa(p.MTU)
	}
	return text
}

// Commands implements resource.Spec.
func (s SwitchSpec) Commands(ns string) []resource.Command {
	d := Spec{Owner: s.Owner}
	env := append([]string{"env"}, d.environment()...)
	flows := resource.In(ns, append(env, setFlows(s)...)...)
	flows.Stdin = flowText(s)
	return []resource.Command{resource.In(ns, append(slices.Clip(env), vsctl(s.Owner, s.words())...)...), flows}
}

// external is the column that says what a switch joins.
const external = "external_ids:nfchain="

// words make the switch by ovs-vsctl(8), or what it lacks.
func (s SwitchSpec) words() []string {
	words := []string{
		"--", "--may-exist", "add-br", s.Name,
		"--", "set", "bridge", s.Name, "datapath_type=" + s.Datapath, "fail_mode=" + secure, external + strconv.Quote(s.Joins),
	}
	for _, p := range s.Ports {
		words = append(words, p.words(s.Name)...)
	}
	return words
}

func (p Port) words(bridge string) []string {
	words := []string{"--", "--may-exist", "add-port", bridge, p.Name, "--", "set", "interface", p.Name, "ofport_request=" + strconv.Itoa(p.Number)}
	switch p.Type {
	case Internal:
		return append(words, "type="+p.Type, "mtu_request="+strconv.Itoa(p.MTU))
	case Patch:
		return append(words, "type="+p.Type, "options:peer="+p.Peer)
	}
	return words
}

// vsctl is a call of ovs-vsctl(8), which returns when the daemon has done what the
// database says.
func vsctl(owner string, words []string) []string {
	return append([]string{"ovs-vsctl", "--db=" + socket(owner), "--timeout=60"}, words...)
}

// setFlows is a call of ovs-ofctl(8) that replaces all flows of a switch by those on its
// standard input, in one step.
func setFlows(s SwitchSpec) []string {
	return []string{"ovs-ofctl", "--bundle", "--timeout=60", "replace-flows", management(s.Owner, s.Name), "-"}
}

func flowText(s SwitchSpec) string {
	var b strings.Builder
	for _, f := range s.Flows {
		b.WriteString(f + "\n")
	}
	return b.String()
}
