package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// ignored are the patterns of a .dockerignore, of which the last that fits a file or a directory above it decides.
type ignored struct {
	patterns []pattern
	// excepts tells that some take back what others ignore.
	excepts bool
}

type pattern struct {
	fits   *regexp.Regexp
	except bool
}

func readIgnored(name string) (ignored, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ignored{}, nil
	}
	if err != nil {
		return ignored{}, at(filepath.Base(name), err)
	}
	return parseIgnored(string(text))
}

func parseIgnored(text string) (all ignored, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		line, except := strings.CutPrefix(line, "!")
		line = strings.TrimPrefix(path.Clean(strings.TrimSpace(line)), "/")
		if line == "." || line == "" {
			continue
		}
		fits, err := regexp.Compile(expression(line))
		if err != nil {
			return all, fmt.Errorf(".dockerignore:%d: %q is not a pattern: %w", n, line, err)
		}
		all.patterns = append(all.patterns, pattern{fits, except})
		all.excepts = all.excepts || except
	}
	return all, nil
}

// expression of a pattern, in which * and ? are of one name, and ** of any number of them.
func expression(p string) string {
	var b strings.Builder
	b.WriteString("^")
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case strings.HasPrefix(p[i:], "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(p[i:], "**"):
			b.WriteString(".*")
			i++
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[' || c == ']' || c == '-':
			b.WriteByte(c)
		case c == '\\' && i+1 < len(p):
			i++
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		}
	}
	return b.String() + "(?:/.*)?$"
}

// has tells whether a file is left out.
func (g ignored) has(name string) bool {
	out := false
	for _, p := range g.patterns {
		if p.fits.MatchString(filepath.ToSlash(name)) {
			out = !p.except
		}
	}
	return out
}
