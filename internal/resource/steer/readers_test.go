package steer_test

import (
	"testing"

	"nfchain.dev/nfchain/internal/resource/steer"
)

// TestReadersAreAwaited of the rules that count now, by namespace, and those of others from the beginning.
func TestReadersAreAwaited(t *testing.T) {
	for generation := range uint32(20) {
		all := []string{"one", "other"}
		for _, namespace := range all {
			steer.ReadersEnd(namespace, generation)
		}
		for _, namespace := range all {
			steer.AwaitReaders(namespace, generation)
			if !steer.ReadersEnded(namespace) {
				t.Fatalf("who read rules of namespace %s before those of generation %d was not awaited", namespace, generation)
			}
			steer.AwaitReaders(namespace, generation+1)
		}
		steer.AwaitReaders("nobodys", generation)
	}
}
