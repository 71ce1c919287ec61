package steer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Tables of the flows of functions with replicas, as the ports of a place have them: all that face one function the same.
type Tables []functionTable

type functionTable struct {
	name   string
	number ebpf.MapID
	flows  *ebpf.Map
}

// TablesAt are those of a place. It is called in the ports' namespace.
func TablesAt(p resource.Place) (all Tables, err error) {
	ports, err := holders(p, func(*attached) bool { return true })
	defer held.CloseAll(ports)
	for _, a := range ports {
		for name, m := range a.Maps {
			if err == nil && strings.HasPrefix(name, tablePrefix) {
				err = all.add(name, m)
			}
		}
	}
	if err != nil {
		all.Close()
		return nil, err
	}
	return all, nil
}

func (t *Tables) add(name string, m *ebpf.Map) error {
	number, err := held.NumberOf(m)
	if err != nil || t.has(number) {
		return err
	}
	clone, err := m.Clone()
	if err == nil {
		*t = append(*t, functionTable{name, number, clone})
	}
	return err
}

func (t Tables) has(number ebpf.MapID) bool {
	return slices.ContainsFunc(t, func(o functionTable) bool { return o.number == number })
}

// Of a function, with room for so many flows; nil where no port has one.
func (t Tables) Of(function string, flows uint32) *ebpf.Map {
	name := table(function)
	for _, o := range t {
		if o.name == name && o.flows.MaxEntries() == flows {
			return o.flows
		}
	}
	return nil
}

// Close lets go of them.
func (t Tables) Close() {
	for _, o := range t {
		_ = o.flows.Close()
	}
}

// Text says which table a program has among its maps, and with room for how many flows, if ports have the same.
func (t Tables) Text(maps map[string]*ebpf.Map) (string, error) {
	for name, m := range maps {
		if !strings.HasPrefix(name, tablePrefix) {
			continue
		}
		number, err := held.NumberOf(m)
		if err != nil || !t.has(number) {
			return "what no port has", err
		}
		return tableText(name, m.MaxEntries()), nil
	}
	return "nothing", nil
}

// WantedTable is what the text says where it is a function's.
func WantedTable(function string, flows uint32) string { return tableText(table(function), flows) }

func tableText(name string, flows uint32) string { return fmt.Sprintf("%s, with %d", name, flows) }
