package plan

import (
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
)

// Hugepages are the machine's. Those that are free say less: the chain's own programs have
// some while it is up.
type Hugepages struct{ PageBytes, Reserved uint64 }

// hugepages refuses a chain whose functions need more than there are.
func (b *builder) hugepages() error {
	needed := uint64(0)
	for _, n := range b.nodes {
		for _, m := range n.members() {
			bytes, err := hugepagesOf(b.catalogue.Functions[m.body.Kind], m.body)
			if err != nil {
				return fmt.Errorf("function %s: %w", m.Name, err)
			}
			if !n.shared { // it has them already
				needed += bytes * n.replicas()
			}
		}
	}
	pages := b.facts.Hugepages
	if needed == 0 || pages == nil {
		return nil
	}
	have, where := pages.Reserved, "are reserved"
	if reserved := b.chain.Spec.Tuning.Hugepages; reserved > 0 {
		have, where = uint64(reserved), "tuning.hugepages reserves"
	}
	if want := (needed + pages.PageBytes - 1) / pages.PageBytes; want > have {
		return fmt.Errorf("resources.hugepages: the functions need %d hugepages of %d KiB, and %d %s; write tuning: {host: allow, hugepages: %d}, or sysctl -w vm.nr_hugepages=%d",
			want, pages.PageBytes>>10, have, where, want, want)
	}
	return nil
}

// hugepagesOf a function, in bytes.
func hugepagesOf(kind function.Kind, body api.FunctionBody) (uint64, error) {
	if body.Resources == nil || body.Resources.Hugepages == 0 {
		return 0, nil
	}
	if _, uses := kind.(function.Hugepager); !uses {
		return 0, fmt.Errorf("resources.hugepages: kind %s uses no hugepages; leave it out", body.Kind)
	}
	return uint64(body.Resources.Hugepages), nil
}
