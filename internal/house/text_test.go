package house

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// longest file of code a person wrote, in lines.
const longest = 500

// never are what no file says. Each is put together here, so that this file does
// not say it either.
var never = map[string]*regexp.Regexp{
	"a note of work left undone": regexp.MustCompile(`\b(` + "TO" + `DO|FIX` + `ME|X` + `XX)\b`),
	"a path of somebody's own":   regexp.MustCompile(`(^|[\s"'` + "`" + `(=:])/` + `(work|root)(/|\b)`),
	"the host of a registry": regexp.MustCompile(`\b(docker\.` + `io/|ghcr\.` + `io|quay\.` + `io|gcr\.` + `io|pkg\.` + `dev/|` +
		`(proxy|sum)\.golang` + `\.org|goproxy\.` + `|registry\.` + `[a-z]+\.|pypi\.` + `org|crates\.` + `io|(deb|security)\.debian` + `\.org|archive\.ubuntu` + `\.com)`),
}

func TestNoFileSaysWhatNoneMay(t *testing.T) {
	all, err := files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		text := read(t, name)
		if !utf8.ValidString(text) {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			for what, pattern := range never {
				if found := pattern.FindString(line); found != "" {
					t.Errorf("%s:%d: %q is %s", name, i+1, strings.TrimSpace(found), what)
				}
			}
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, s := range allSources(t) {
		if s.test || s.generated() {
			continue
		}
		if lines := strings.Count(read(t, s.name), "\n"); lines > longest {
			t.Errorf("%s has %d lines; at most %d", s.name, lines, longest)
		}
	}
}

// link of a Markdown file to something beside it.
var link = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)

func TestDocumentsPointAtWhatIsThere(t *testing.T) {
	all, err := files()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, name := range all {
		for ; name != "."; name = path.Dir(name) {
			there[name] = true
		}
	}
	for _, name := range all {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(read(t, name), -1) {
			if target := path.Join(path.Dir(name), m[1]); !there[target] {
				t.Errorf("%s points at %s, which is not there", name, target)
			}
		}
	}
}

// quoted are names of files and directories in backquotes, in documents.
var quoted = regexp.MustCompile("`((?:api|cmd|examples|internal|published|scripts|test)/[a-zA-Z0-9_./-]*)`")

func TestDocumentsNameFilesThatAreThere(t *testing.T) {
	all, err := files()
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range documents(all) {
		for _, m := range quoted.FindAllStringSubmatch(read(t, doc), -1) {
			if !under(all, strings.TrimSuffix(m[1], "/")) {
				t.Errorf("%s names %s, which is not there", doc, m[1])
			}
		}
	}
}

// documents are those that people read, by their names.
func documents(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool {
		return !strings.HasSuffix(name, ".md") || strings.Contains(name, "/") && !strings.HasPrefix(name, "docs/")
	})
}

func under(all []string, dir string) bool {
	for _, name := range all {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}
