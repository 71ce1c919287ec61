package ovs

import (
	"encoding/json"
	"fmt"
	"strings"
)

// state is what the database and the daemon say of the owner's switches.
type state struct {
	switches []bridge
	ports    map[string]seen
}

// bridge is a switch as it was found.
type bridge struct {
	name, datapath, mode, joins string
	ports                       []string
}

// seen is a port as it was found; number and trouble are the daemon's.
type seen struct {
	Port
	trouble string
	// index of the interface that the daemon was given, "" where that was not noted.
	index string
}

// The tables and columns that are read.
const (
	bridgeColumns    = "name,datapath_type,fail_mode,external_ids,ports"
	portColumns      = "_uuid,name"
	interfaceColumns = "name,type,ofport,mtu_request,options,error,external_ids"
)

// readState asks the database once.
func readState(owner, ref string) (state, error) {
	words := []string{
		"--format=json", "--columns=" + bridgeColumns, "list", "Bridge",
		"--", "--columns=" + portColumns, "list", "Port",
		"--", "--columns=" + interfaceColumns, "list", "Interface",
	}
	text, err := run(ref, Spec{Owner: owner}, "", vsctl(owner, words)...)
	if err != nil {
		return state{}, err
	}
	return parseState(text)
}

// table is what ovs-vsctl(8) prints of one; values are as in RFC 7047, section 5.1.
type table struct {
	Headings []string `json:"headings"`
	Data     [][]any  `json:"data"`
}

func parseState(text string) (state, error) {
	var tables [3]table
	d := json.NewDecoder(strings.NewReader(text))
	for i := range tables {
		if err := d.Decode(&tables[i]); err != nil {
			return state{}, fmt.Errorf("read what ovs-vsctl prints: %w", err)
		}
	}
	return assemble(tables[0].rows(), tables[1].rows(), tables[2].rows()), nil
}

func assemble(bridges, ports, interfaces []row) state {
	names := map[string]string{}
	for _, r := range ports {
		names[r.words("_uuid")[0]] = r.word("name")
	}
	s := state{ports: map[string]seen{}}
	for _, r := range bridges {
		b := bridge{name: r.word("name"), datapath: r.word("datapath_type"), mode: r.word("fail_mode"), joins: r.pairs("external_ids")["nfchain"]}
		for _, id := range r.words("ports") {
			if name := names[id]; name != b.name { // every switch has a port of its own name
				b.ports = append(b.ports, name)
			}
		}
		s.switches = append(s.switches, b)
	}
	for _, r := range interfaces {
		p := seen{trouble: r.word("error"), index: r.pairs("external_ids")[indexKey]}
		p.Port = Port{Name: r.word("name"), Number: r.number("ofport"), Type: r.word("type"), Peer: r.pairs("options")["peer"], MTU: r.number("mtu_request")}
		if p.Type == "" {
			p.Type = Device
		}
		s.ports[p.Name] = p
	}
	return s
}

// row is a row by column.
type row map[string]any

func (t table) rows() (rows []row) {
	for _, values := range t.Data {
		r := row{}
		for i, v := range values {
			if i < len(t.Headings) {
				r[t.Headings[i]] = v
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// words of a column that holds a value, or a set of them: "a", ["uuid","x"] or
// ["set",[…]].
func (r row) words(column string) (all []string) {
	list, _ := r[column].([]any)
	if len(list) != 2 {
		return []string{fmt.Sprint(r[column])}
	}
	if list[0] != "set" {
		return []string{fmt.Sprint(list[1])}
	}
	members, _ := list[1].([]any)
	for _, m := range members {
		all = append(all, row{"": m}.words("")...)
	}
	return all
}

// word of a column that holds at most one value.
func (r row) word(column string) string { return strings.Join(r.words(column), " ") }

// number of a column, 0 where there is none.
func (r row) number(column string) int {
	n, _ := r[column].(float64)
	return int(n)
}

// pairs of a column that holds ["map",[[key,value],…]].
func (r row) pairs(column string) map[string]string {
	pairs := map[string]string{}
	list, _ := r[column].([]any)
	if len(list) != 2 || list[0] != "map" {
		return pairs
	}
	members, _ := list[1].([]any)
	for _, m := range members {
		if pair, ok := m.([]any); ok && len(pair) == 2 {
			pairs[fmt.Sprint(pair[0])] = fmt.Sprint(pair[1])
		}
	}
	return pairs
}
