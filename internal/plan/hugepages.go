package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
)

// Hugepages are the machine's, of the kernel's usual size. Those that are free say less: the chain's own programs have
// some while it is up.
type Hugepages struct {
	PageBytes, Reserved uint64
	// Pools are how many are reserved of each size that the kernel has, the usual one too.
	Pools map[uint64]uint64
}

// commonPage is the usual size of most machines, for a plan without the facts of any.
const commonPage = 2 << 20

// pagesOf a function: the size of its hugepages in bytes, and how many it needs; 0 is none.
func (b *builder) pagesOf(body api.FunctionBody) (page, pages uint64) {
	if body.Resources == nil || body.Resources.Hugepages == 0 {
		return 0, 0
	}
	page = uint64(body.Resources.HugepageSize)
	if page == 0 && b.facts.Hugepages != nil {
		page = b.facts.Hugepages.PageBytes
	}
	page = cmp.Or(page, commonPage)
	return page, (uint64(body.Resources.Hugepages) + page - 1) / page
}

// hugepages refuses a chain whose functions need more than there are.
func (b *builder) hugepages() error {
	needed := map[uint64]uint64{}
	var refused []error
	for _, n := range b.nodes {
		for _, m := range n.members() {
			refused = append(refused, about(usesHugepages(b.catalogue.Functions[m.body.Kind], m.body), "function "+m.Name))
			if page, pages := b.pagesOf(m.body); !n.shared && pages > 0 { // shared ones have them already
				needed[page] += pages * n.replicas()
			}
		}
	}
	if err := errors.Join(refused...); err != nil || b.facts.Hugepages == nil {
		return err
	}
	for _, page := range slices.Sorted(maps.Keys(needed)) {
		if err := b.enough(page, needed[page]); err != nil {
			return feature.Lacking(err)
		}
	}
	return nil
}

// enough of a size is an error where there are fewer.
func (b *builder) enough(page, want uint64) error {
	of := b.facts.Hugepages
	if page == of.PageBytes {
		have, where := of.Reserved, "are reserved"
		if reserved := b.chain.Spec.Tuning.Hugepages; reserved > 0 {
			have, where = uint64(reserved), "tuning.hugepages reserves"
		}
		if want > have {
			return fmt.Errorf("resources.hugepages: the functions need %d hugepages of %d KiB, and %d %s; write tuning: {host: allow, hugepages: %d}, or sysctl -w vm.nr_hugepages=%d",
				want, page>>10, have, where, want, want)
		}
		return nil
	}
	have, is := of.Pools[page]
	if !is {
		var sizes []string
		for _, size := range slices.Sorted(maps.Keys(of.Pools)) {
			sizes = append(sizes, api.Size(size).String())
		}
		return fmt.Errorf("resources.hugepage_size: this machine has no hugepages of %s; use %s", api.Size(page), cmp.Or(strings.Join(sizes, " or "), api.Size(of.PageBytes).String()))
	}
	if want > have {
		return fmt.Errorf("resources.hugepages: the functions need %d hugepages of %d KiB, and %d are reserved; echo %d >/sys/kernel/mm/hugepages/hugepages-%dkB/nr_hugepages",
			want, page>>10, have, want, page>>10)
	}
	return nil
}

// usesHugepages is an error where a function is given some and its kind uses none.
func usesHugepages(kind function.Kind, body api.FunctionBody) error {
	if body.Resources == nil || body.Resources.Hugepages == 0 {
		return nil
	}
	if _, uses := kind.(function.Hugepager); !uses {
		return fmt.Errorf("resources.hugepages: kind %s uses no hugepages; leave it out", body.Kind)
	}
	return nil
}
