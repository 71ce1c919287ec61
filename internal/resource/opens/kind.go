package opens

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/cilium/ebpf"

	bpf "nfchain.dev/nfchain/bpf/opens"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// Kind makes such programs.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return nil, err
	}
	var found []resource.Observed
	err = p.Do(func() error {
		var tables steer.Tables // of which is asked once, where any program is
		defer func() { tables.Close() }()
		for index, device := range mine {
			all, err := held.Find(p, index, held.Opens)
			if err != nil {
				return err
			}
			if len(all) > 0 && tables == nil {
				tables, err = steer.TablesAt(p)
			}
			if len(all) > 0 && err == nil {
				var text string
				text, err = describe(tables, all)
				found = append(found, resource.Observed{Key: device, Fingerprint: text})
			}
			held.CloseAll(all)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// describe what is at a port: more than one is what should not be.
func describe(tables steer.Tables, all []*held.Program) (string, error) {
	var texts []string
	for _, a := range all {
		table, err := tables.Text(a.Maps)
		if err != nil {
			return "", err
		}
		replica, err := replicaOf(a)
		if err != nil {
			return "", err
		}
		texts = append(texts, fingerprint(replica, table, a.Name))
	}
	return strings.Join(texts, ", and "), nil
}

// flowsMap is what the program calls the table.
const flowsMap = "flows"

// object that this version's program is loaded from.
var object = held.Once(bpf.LoadProgram)

// replicaAt is where the replica's number is among the constants.
var replicaAt = sync.OnceValues(func() (uint64, error) {
	spec, err := object()
	if err != nil {
		return 0, err
	}
	return spec.Variables["replica"].Offset(), nil
})

// replicaOf is whose flows a program of this version has be known; 0 of another version.
func replicaOf(a *held.Program) (replica uint32, err error) {
	at, err := replicaAt()
	if err != nil || a.Name != name {
		return 0, err
	}
	return replica, a.Constant(at, &replica)
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	return p.Do(func() error {
		tables, err := steer.TablesAt(p)
		if err != nil {
			return err
		}
		defer tables.Close()
		return resource.Make(changes,
			func(port string) error { return remove(p, port) },
			func(s Spec) error { return set(p, tables, s) })
	})
}

// remove what is at a port, unless that has gone.
func remove(p resource.Place, port string) error {
	return failed(p, port, held.Coming.Clear(p, port, held.Opens))
}

func failed(p resource.Place, port string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("know the flows that come from the replica behind port %s of namespace %q: %w", port, p.Ref, err)
}

// set the program at a port.
func set(p resource.Place, tables steer.Tables, s Spec) error {
	program, err := load(tables, s)
	if err != nil {
		return failed(p, s.Device, err)
	}
	defer func() { _ = program.Close() }()
	return failed(p, s.Device, held.Coming.Keep(p, s.Device, held.Opens, program))
}

// load the program with the table of the ports that face the function.
func load(tables steer.Tables, s Spec) (*ebpf.Program, error) {
	spec, err := object()
	if err != nil {
		return nil, err
	}
	table := tables.Of(s.Of, s.Flows)
	if table == nil {
		return nil, fmt.Errorf("no port has the flows of %s, of %d that are known", s.Of, s.Flows)
	}
	flows := spec.Maps[flowsMap]
	flows.MaxEntries = s.Flows
	if err := errors.Join(spec.Variables["replica"].Set(uint32(s.Replica)), flows.Compatible(table)); err != nil {
		return nil, err
	}
	spec.Programs["note"].Name = name
	var objects bpf.ProgramPrograms
	if err := spec.LoadAndAssign(&objects, &ebpf.CollectionOptions{MapReplacements: map[string]*ebpf.Map{flowsMap: table}}); err != nil {
		return nil, fmt.Errorf("load the program that has its flows be known: %w", err)
	}
	return objects.Note, nil
}
