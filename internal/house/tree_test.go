package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// root of the tree, as the tests of this package see it.
const root = "../.."

const module = "nfchain.dev/nfchain"

// source is one Go file.
type source struct {
	// name is the file's path from the root, dir the package's.
	name, dir string
	test      bool
	*ast.File
}

// imports of the file, as they are written.
func (s source) imports() []string {
	var paths []string
	for _, spec := range s.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic(err) // the file was parsed
		}
		paths = append(paths, path)
	}
	return paths
}

// generated tells whether a program wrote the file.
func (s source) generated() bool { return ast.IsGenerated(s.File) }

var positions = token.NewFileSet()

// at is where a node stands, for a message.
func at(n ast.Node) string {
	p := positions.Position(n.Pos())
	return strings.TrimPrefix(filepath.ToSlash(p.Filename), root+"/") + ":" + strconv.Itoa(p.Line)
}

// files lists every file of the tree that is not built, by its path from the root.
var files = sync.OnceValues(func() ([]string, error) {
	var names []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && !d.IsDir(): // of a work tree beside the repository
		case d.IsDir() && (d.Name() == ".git" || name == "bin" || name == ".out"):
			return fs.SkipDir
		// In a linked worktree .git is a file.
		case d.Type().IsRegular() && name != "nfchain-report.html" && name != ".git":
			names = append(names, name)
		}
		return nil
	})
	return names, err
})

// sources are the tree's Go files, parsed.
var sources = sync.OnceValues(func() ([]source, error) {
	names, err := files()
	if err != nil {
		return nil, err
	}
	var all []source
	for _, name := range names {
		if path.Ext(name) != ".go" {
			continue
		}
		file, err := parser.ParseFile(positions, filepath.Join(root, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		all = append(all, source{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), file})
	}
	return all, nil
})

func allSources(t *testing.T) []source {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("found %d Go files: the tests do not look at the tree", len(all))
	}
	return all
}

// read a file of the tree.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
