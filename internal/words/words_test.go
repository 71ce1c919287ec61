package words_test

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/words"
)

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 pairs", 1: "1 pair", 2: "2 pairs"} {
		if got := words.Plural(n, "pair"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFew(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "a", "a b c": "a, b, c", "a b c d": "a, b and 2 more", "a b c d e": "a, b and 3 more"} {
		if got := words.Few(strings.Fields(text), 2, ", "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestShell(t *testing.T) {
	if got := words.Shell("nfchain", "bench", "a b.yaml", "it's", "-x=$HOME", ""); got != `nfchain bench 'a b.yaml' 'it'\''s' '-x=$HOME' ''` {
		t.Error(got)
	}
}

func TestTable(t *testing.T) {
	table := words.NewTable()
	table.Row("A", "B", "C")
	table.Row("longer", "2", "")
	table.Row("x", "", "")
	if got, want := table.String(), "A       B  C\nlonger  2\nx\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
