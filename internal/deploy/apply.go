package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/cni"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/label"
	"nfchain.dev/nfchain/internal/resource/machine"
	"nfchain.dev/nfchain/internal/resource/nsh"
	"nfchain.dev/nfchain/internal/resource/opens"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/qdisc"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/resource/through"
	"nfchain.dev/nfchain/internal/resource/tuning"
)

// scripted are the kinds that a plan's script calls nfchain for, since no other
// command makes them, or not all of them.
var scripted = map[string]struct {
	resource.Kind
	decode func([]byte) (resource.Spec, error)
}{
	adopted.KindName:          {adopted.Kind{}, decode[adopted.Spec]},
	cni.KindName:              {cni.Kind{}, decode[cni.Spec]},
	container.KindName:        {container.Kind{}, decode[container.Spec]},
	container.NetworkKindName: {container.NetworkKind{}, decode[container.Network]},
	container.NamesKindName:   {container.NamesKind{}, decode[container.Names]},
	health.KindName:           {health.Kind{}, decode[health.Spec]},
	label.KindName:            {label.Kind{}, decode[label.Spec]},
	machine.KindName:          {machine.Kind{}, decode[machine.Spec]},
	nsh.PopKindName:           {nsh.PopKind{}, decode[nsh.Pop]},
	nsh.PushKindName:          {nsh.PushKind{}, decode[nsh.Push]},
	opens.KindName:            {opens.Kind{}, decode[opens.Spec]},
	pass.KindName:             {pass.Kind{}, decode[pass.Spec]},
	process.KindName:          {process.Kind{}, decode[process.Spec]},
	qdisc.KindName:            {qdisc.Kind{}, decode[qdisc.Spec]},
	steer.KindName:            {steer.Kind{}, decode[steer.Spec]},
	through.KindName:          {through.Kind{}, decode[through.Spec]},
	tuning.KindName:           {tuning.Kind{}, decode[tuning.Spec]},
}

// Apply makes one resource of an owner in a namespace, given by its kind and its spec as
// JSON, as Up would. The rest of what the owner has stays as it is.
func Apply(ctx context.Context, owner, kind, namespace string, text []byte) error {
	k, ok := scripted[kind]
	if !ok {
		return fmt.Errorf("resources of kind %q are made by ip, tc and nft commands; see `nfchain plan -o sh`", kind)
	}
	spec, err := k.decode(text)
	if err != nil {
		return fmt.Errorf("the %s is not one: %w; make the script again with this version's `nfchain plan -o sh`", kind, err)
	}
	if s, is := spec.(container.Spec); is {
		err = noteContainers(ctx, owner, s.Engine)
	}
	if s, is := spec.(container.Network); is {
		err = noteContainers(ctx, owner, s.Engine)
	}
	if err != nil {
		return err
	}
	h, err := netns.Open(namespace)
	if err != nil {
		return err
	}
	defer h.Close()
	if kind == process.KindName || kind == health.KindName {
		if _, err := process.Relieve(owner); err != nil {
			return err
		}
	}
	at := resource.At(h, owner)
	observed, err := k.Read(at)
	if err != nil {
		return err
	}
	for _, o := range observed {
		if o.Key == spec.Key() && o.Fingerprint == spec.Fingerprint() {
			return nil
		}
	}
	if s, is := spec.(container.Spec); is {
		return s.Make(ctx, owner)
	}
	r, by := resource.New(namespace, spec), k.Kind
	if kind == steer.KindName { // one port at a time, so that a flow would stay at some and not at others
		by = steer.Kind{Turn: &steer.Turn{AtOnce: true}}
	}
	return by.Apply(at, []resource.Change{{Op: resource.Create, ID: r.ID, Kind: kind, Key: spec.Key(), Spec: spec}})
}

// decode reads a spec, of which every field must be known.
func decode[S resource.Spec](text []byte) (resource.Spec, error) {
	var s S
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&s)
	return s, err
}
