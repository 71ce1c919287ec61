package house

import (
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// binary is an nfchain built for the tests of this package.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "house-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "nfchain")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/nfchain")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := binary(); err == nil {
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			code = 1
		}
	}
	os.Exit(code)
}

// help of a command, by its words after nfchain.
func help(t *testing.T, words ...string) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, append(words, "--help")...).CombinedOutput()
	if err != nil {
		t.Fatalf("nfchain %s --help: %v\n%s", strings.Join(words, " "), err, out)
	}
	return string(out)
}

// The parts of a help text.
var (
	listed = regexp.MustCompile(`(?m)^  ([a-z]+)  +\S`)
	flag   = regexp.MustCompile(`(?m)^ +(?:(-[a-z]), )?(--[a-z0-9-]+)`)
)

// section of a help text, from its heading to the next empty line.
func section(text, heading string) string {
	_, rest, _ := strings.Cut(text, "\n"+heading+":\n")
	part, _, _ := strings.Cut(rest, "\n\n")
	return part
}

// commands are the help texts of every command, by the words that name it.
var commands map[string]string

func allCommands(t *testing.T) map[string]string {
	t.Helper()
	if commands == nil {
		commands = map[string]string{}
		addCommands(t, nil)
	}
	return commands
}

func addCommands(t *testing.T, words []string) {
	text := help(t, words...)
	commands[strings.Join(words, " ")] = text
	for _, m := range listed.FindAllStringSubmatch(section(text, "Available Commands"), -1) {
		if m[1] != "help" || len(words) > 0 { // cobra's help of help is that of all
			addCommands(t, append(words[:len(words):len(words)], m[1]))
		}
	}
}

func TestEveryHelpHasAnExampleThatIsRight(t *testing.T) {
	all := allCommands(t)
	if len(all) < 20 {
		t.Fatalf("found %d commands: the test does not walk them", len(all))
	}
	for words, text := range all {
		example := section(text, "Examples")
		if example == "" {
			t.Errorf("nfchain %s --help has no example", words)
		}
		for _, line := range strings.Split(example, "\n") {
			checkLine(t, "nfchain "+words+" --help", line)
		}
	}
}

// TestEveryCommandIsGivenAnExample looks at the code, because hidden commands
// are in no list.
func TestEveryCommandIsGivenAnExample(t *testing.T) {
	count := 0
	for _, s := range allSources(t) {
		if s.test || s.dir != "cmd/nfchain" {
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || !isCommand(literal.Type) {
				return true
			}
			count++
			for _, field := range []string{"Use", "Short", "Example"} {
				if !hasField(literal, field) {
					t.Errorf("%s: a command without %s", at(literal), field)
				}
			}
			return true
		})
	}
	if count < 20 {
		t.Errorf("found %d commands: the test does not see them", count)
	}
}

func isCommand(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Command" && s.X.(*ast.Ident).Name == "cobra"
}

func hasField(literal *ast.CompositeLit, name string) bool {
	for _, e := range literal.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && kv.Key.(*ast.Ident).Name == name {
			return true
		}
	}
	return false
}

// invocation of nfchain in a line of shell.
var invocation = regexp.MustCompile(`(?:^|[\s(])(?:sudo )?(?:bin/)?nfchain ([a-z-][^#|<>)&]*)`)

// checkLine checks that each nfchain that a line of shell runs is one there is.
func checkLine(t *testing.T, where, line string) {
	t.Helper()
	for _, m := range invocation.FindAllStringSubmatch(line, -1) {
		checkWords(t, where, strings.Fields(m[1]))
	}
}

func checkWords(t *testing.T, where string, words []string) {
	t.Helper()
	all, name := allCommands(t), ""
	for _, w := range words {
		next := strings.TrimSpace(name + " " + w)
		if _, ok := all[next]; !ok {
			break
		}
		name = next
	}
	if name == "" && words[0] != "help" {
		t.Errorf("%s has nfchain %s, which is no command", where, words[0])
		return
	}
	known := map[string]bool{}
	for _, m := range flag.FindAllStringSubmatch(section(all[name], "Flags")+"\n"+section(all[name], "Global Flags"), -1) {
		known[m[1]], known[m[2]] = true, true
	}
	for _, w := range words {
		if w == "--" {
			return // the rest is another program's
		}
		if w, _, _ = strings.Cut(w, "="); strings.HasPrefix(w, "-") && w != "-" && !known[w] {
			t.Errorf("%s has nfchain %s %s, which is no flag of it", where, name, w)
		}
	}
}

// fence is a block of shell in a document.
var fence = regexp.MustCompile("(?s)\n```sh\n(.*?)\n```")

func TestDocumentsRunCommandsThatAreThere(t *testing.T) {
	all, err := files()
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range documents(all) {
		for _, block := range fence.FindAllStringSubmatch(read(t, doc), -1) {
			for _, line := range strings.Split(block[1], "\n") {
				checkLine(t, doc, line)
			}
		}
	}
}

func TestReadmeShowsEveryCommand(t *testing.T) {
	text := read(t, "README.md")
	for words := range allCommands(t) {
		if !strings.Contains(text, "nfchain "+words) && !strings.HasPrefix(words, "completion ") {
			t.Errorf("README.md does not show nfchain %s", words)
		}
	}
}

func TestExamplesSayCommandsThatAreThere(t *testing.T) {
	for _, name := range shipped(t) {
		for _, line := range strings.Split(read(t, name), "\n") {
			if comment, ok := strings.CutPrefix(line, "#"); ok {
				checkLine(t, name, comment)
			}
		}
	}
}
