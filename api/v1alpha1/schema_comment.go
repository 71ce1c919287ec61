package v1alpha1

import (
	"embed"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// sources are read for the comments on the types, which become the schema's
// descriptions.
//
//go:embed types.go chain.go container.go classifier.go branch.go tuning.go placement.go load.go repetition.go search.go experiment.go
var sources embed.FS

// commentMap gives a comment by "Type" or "Type.Field".
type commentMap map[string]string

func comments() commentMap {
	m := commentMap{}
	entries, _ := sources.ReadDir(".")
	for _, entry := range entries {
		text, _ := sources.ReadFile(entry.Name())
		m.file(text)
	}
	return m
}

// file takes in the comments of a source file.
func (m commentMap) file(text []byte) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments)
	if err != nil {
		return // the compiler has read it, so this cannot be
	}
	for _, declaration := range file.Decls {
		if types, ok := declaration.(*ast.GenDecl); ok && types.Tok == token.TYPE {
			m.declaration(types)
		}
	}
}

func (m commentMap) declaration(types *ast.GenDecl) {
	for _, spec := range types.Specs {
		named, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		m[named.Name.Name] = oneLine(types.Doc.Text())
		if fields, ok := named.Type.(*ast.StructType); ok {
			m.fields(named.Name.Name, fields.Fields)
		}
	}
}

// fields of a struct. A comment is of the fields below too that it names: "A and B are …".
func (m commentMap) fields(of string, list *ast.FieldList) {
	last := ""
	for _, field := range list.List {
		own := oneLine(field.Doc.Text())
		if own != "" {
			last = own
		}
		for _, name := range field.Names {
			if own != "" || slices.Contains(strings.FieldsFunc(last, notInName), name.Name) {
				m[of+"."+name.Name] = last
			}
		}
	}
}

// notInName tells what a field's name ends at.
func notInName(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func oneLine(comment string) string { return strings.Join(strings.Fields(comment), " ") }

// lookup a type's comment, or a field's, by the name that the type has in the schema.
func (m commentMap) lookup(t reflect.Type, field string) string {
	if field == "" {
		return m[definitionName(t)]
	}
	return m[definitionName(t)+"."+field]
}

// Declared is implemented by options that tell the Go source of their types: its comments
// become the schema's descriptions.
type Declared interface{ Declared() string }

// declared takes in the comments of an option type, of those beside it, and of what it is
// made of.
func (m commentMap) declared(options any) {
	m.declaredOf(reflect.TypeOf(options), map[reflect.Type]bool{})
}

func (m commentMap) declaredOf(t reflect.Type, seen map[reflect.Type]bool) {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, t.Kind()) {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	if d, is := reflect.New(t).Interface().(Declared); is {
		beside := commentMap{}
		beside.file([]byte(d.Declared()))
		for name, text := range beside {
			m[packageName(t)+"."+name] = text
		}
	}
	for i := range t.NumField() {
		m.declaredOf(t.Field(i).Type, seen)
	}
}
