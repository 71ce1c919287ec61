package deploy

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/resource/container"
)

// A chain without containers may have had some of which nothing is known any more, as when the machine was started anew: each engine that
// there is is asked for them once, when the chain is brought up. One that says nothing keeps no such chain from that.

// withoutFile has the engines that have nothing of a chain's: the name of each, and where it listens.
func withoutFile(owner string) string { return filepath.Join(StateDir(owner), "without") }

// without are the lines of that file.
func without(owner string) (lines []string) {
	text, _ := os.ReadFile(withoutFile(owner))
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// forgotten are the owner's containers of engines that have not been asked yet, and those engines that have none of them.
func forgotten(ctx context.Context, owner string) (found []engine.Container, none []string) {
	asked := without(owner)
	for _, name := range engine.Names() {
		host, err := hostOf(ctx, name)
		if err != nil || slices.Contains(asked, name+" "+host) {
			continue
		}
		all, err := container.FindIn(ctx, []string{name}, owner)
		if err == nil && len(all) == 0 {
			none = append(none, name+" "+host)
		}
		found = append(found, all...)
	}
	return found, none
}

// dropForgotten removes what there is of such containers.
func (w *work) dropForgotten(ctx context.Context) error {
	found, none := forgotten(ctx, w.owner)
	for _, c := range found {
		w.record(deletion(container.KindName, netns.Host, c.Name))
	}
	if w.dry {
		return nil
	}
	if err := container.RemoveThese(ctx, w.owner, found); err != nil || len(none) == 0 {
		return err
	}
	// Where it cannot be noted they are asked again.
	_ = rundir.Keep(withoutFile(w.owner), []byte(strings.Join(append(without(w.owner), none...), "\n")+"\n"), 0o644)
	return nil
}
