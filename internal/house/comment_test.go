package house

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	has := map[string]bool{}
	for _, s := range allSources(t) {
		if s.test {
			continue
		}
		want := "Package " + s.Name.Name + " "
		if s.Name.Name == "main" {
			want = "Command "
		}
		has[s.dir] = has[s.dir] || s.Doc != nil && strings.HasPrefix(s.Doc.Text(), want)
	}
	for dir, said := range has {
		if !said {
			t.Errorf("package %s has no package comment", dir)
		}
	}
}

func TestEveryExportedNameIsExplained(t *testing.T) {
	for _, s := range allSources(t) {
		if s.test || s.generated() {
			continue
		}
		for _, d := range s.Decls {
			for _, name := range unexplained(d) {
				t.Errorf("%s: exported %s has no comment", at(name), name.Name)
			}
		}
	}
}

// unexplained exported names of a declaration.
func unexplained(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || ast.IsExported(receiver(d))) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		return unexplainedSpecs(d)
	}
	return nil
}

func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// unexplainedSpecs of a declaration of types, constants or variables. The
// comment of a group explains its constants and variables, not its types.
func unexplainedSpecs(d *ast.GenDecl) []*ast.Ident {
	var names []*ast.Ident
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Doc == nil && (d.Doc == nil || d.Lparen != token.NoPos) {
				names = append(names, s.Name)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
					names = append(names, name)
				}
			}
		}
	}
	return names
}
