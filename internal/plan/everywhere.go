package plan

import (
	"errors"
	"fmt"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// everywhere lets functions that have no namespace of their own contribute to those
// that there are.
func (b *builder) everywhere() error {
	var refused []error
	for i, e := range b.chain.Spec.Everywhere {
		refused = append(refused, about(b.spread(e, fmt.Sprintf("everywhere%d", i)), fmt.Sprintf("everywhere[%d]", i)))
	}
	return errors.Join(refused...)
}

func (b *builder) spread(e api.Everywhere, beside string) error {
	if _, can := b.catalogue.Functions[e.Kind].(function.Companion); !can {
		return fmt.Errorf("a %s needs a namespace of its own; put it among the functions", e.Kind)
	}
	var places []int
	for i, n := range b.nodes {
		if !slices.Contains(e.Except, n.Function()) && n.Kind != StopKind { // a stop is there for functions that have no namespace
			places = append(places, i)
		}
	}
	for part, i := range places {
		n := b.nodes[i]
		site := b.besides(i)
		site.Beside, site.Direction, site.Part, site.Parts = beside, e.Direction, part, len(places)
		made, err := b.contribution(e.FunctionBody, site)
		if err != nil {
			return err
		}
		for _, r := range made {
			if n.Hook != "" {
				return fmt.Errorf("what %s hands on meets neither rules nor queues; write except: [%s]", n.Name, n.Name)
			}
			if n.Transparent && r.Kind == ruleset.KindName {
				return fmt.Errorf("what %s passes on meets no rules; write except: [%s]", n.Name, n.Name)
			}
			if (!n.Made || n.Brought) && !onInterface(r) {
				return fmt.Errorf("namespace %s is not the chain's own, so only its interface is; write except: [%s]", n.Namespace, n.Name)
			}
		}
		if err := b.take(n, "everywhere", made); err != nil {
			return err
		}
	}
	return nil
}

// besides is the site of a function that is at any node, an end too.
func (b *builder) besides(i int) function.Site {
	n := b.nodes[i]
	site := function.Site{
		Owner: b.chain.Metadata.Name, Node: n.Name, Namespace: n.Namespace,
		End: n.Kind == "endpoint" && n.endpoint.Interface == "", Needs: append(need(n), b.links[n.Name]...),
	}
	if n.West != nil {
		site.West = n.West.Device
	}
	if n.East != nil {
		site.East = n.East.Device
	}
	if b.direct != nil && n.West == nil {
		site.Aside = append(site.Aside, b.direct.Client.Device)
	}
	if b.direct != nil && n.East == nil {
		site.Aside = append(site.Aside, b.direct.Server.Device)
	}
	return site
}
