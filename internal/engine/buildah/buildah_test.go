package buildah

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/engine/image"
	"nfchain.dev/nfchain/internal/engine/login"
)

func put(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// standIn has buildah be a script.
func standIn(t *testing.T, script string) Builder {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root makes namespaces")
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, Program), "#!/bin/sh\n"+script+"\n", 0o755)
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return Builder{Images: filepath.Join(dir, "images"), Aside: t.TempDir()}
}

// TestLines are told one by one, however they come, and the last are kept.
func TestLines(t *testing.T) {
	var told []string
	l := lines{tell: func(line string) { told = append(told, line) }}
	long := strings.Repeat("x", longestLine)
	for _, piece := range []string{"STEP 1", "/2: FROM a\n\n  Copy 1%\rCopy 2%\r\n", long, "y\n", "a\nb\nc\nend"} {
		if n, err := io.WriteString(&l, piece); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if want := []string{"STEP 1/2: FROM a", "Copy 1%", "Copy 2%", long, "y", "a", "b", "c"}; !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
	if last := l.last(); last != "; the last that it said:\ny\na\nb\nc\nend" {
		t.Errorf("%q", last)
	}
	if last := (&lines{}).last(); last != "" {
		t.Errorf("of nothing: %q", last)
	}
}

// TestRegistries: names without a registry are Docker's, unless the machine has it otherwise.
func TestRegistries(t *testing.T) {
	added := fmt.Sprintf("unqualified-search-registries = [%q]\n", login.Hub)
	name := filepath.Join(t.TempDir(), "registries.conf")
	t.Setenv(registriesVariable, name)
	for text, differs := range map[string]bool{
		"": true, "# unqualified-search-registries = [\"a\"]\n[[registry]]\nlocation = \"b\"\n": true,
		"unqualified-search-registries=[\"a\"]\n": false, "[registries.search]\nregistries = []\n": false,
	} {
		put(t, name, text, 0o600)
		got, differ, err := registries()
		if err != nil || differ != differs || differ && string(got) != added+text {
			t.Errorf("%q: %q, %t, %v", text, got, differ, err)
		}
	}
	t.Setenv(registriesVariable, filepath.Join(t.TempDir(), "none"))
	if got, differ, err := registries(); string(got) != added || !differ || err != nil {
		t.Errorf("none: %q, %t, %v", got, differ, err)
	}
}

// TestFails: what buildah says last is in the error, and nothing of a build that failed is left.
func TestFails(t *testing.T) {
	b := standIn(t, `case "$*" in
*" inspect "*) exit 1 ;;
*" build "*) echo 'STEP 2/2: RUN false'; echo 'no such luck' >&2; exit 3 ;;
*) echo "$*" | sed 's/.*run //' >>"${0%/*}/asked" ;;
esac`)
	dir := t.TempDir()
	put(t, filepath.Join(dir, image.Dockerfile), "FROM scratch\n", 0o600)
	s, err := image.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	name, err := s.Name()
	if err != nil {
		t.Fatal(err)
	}
	err = b.Build(t.Context(), s, name, filepath.Join(dir, "image.tar"))
	if want := "buildah build: exit status 3; the last that it said:\nSTEP 2/2: RUN false\nno such luck"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	asked, err := os.ReadFile(filepath.Join(filepath.Dir(b.Images), "asked"))
	if err != nil || string(asked) != "rm --all\nrm --all\n" {
		t.Errorf("asked for %q, %v", asked, err)
	}
	put(t, filepath.Join(dir, "more"), "", 0o600)
	b.Aside = t.TempDir()
	if err := b.Build(t.Context(), s, name, "x"); err == nil || !strings.Contains(err.Error(), "changed while they were read") {
		t.Errorf("of what has changed: %v", err)
	}
}

// TestEnds: with the context ends what buildah runs, and all that this has started.
func TestEnds(t *testing.T) {
	until := fmt.Sprintf("1%d", os.Getpid())
	b := standIn(t, "sleep "+until+" & echo begun; wait")
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("nobody wants it")
	b.Tell = func(string) { stop(why) }
	began := time.Now()
	if err := b.run(ctx, "build"); !errors.Is(err, why) || time.Since(began) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		runs := slices.ContainsFunc(lines, func(name string) bool {
			text, _ := os.ReadFile(name)
			return string(text) == "sleep\x00"+until+"\x00"
		})
		if !runs {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("what it has started still runs")
		}
	}
}
