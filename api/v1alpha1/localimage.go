package v1alpha1

// OfPath is what a file gives of a container by a path of this machine's.
type OfPath struct {
	// Kind and Name of the document, and the Path of the field in it.
	Kind, Name, Path string
	// Of is the container that it is of.
	Of *Container
}

// LocalImages of a file, in its order. Values of a sweep are not among them.
func (f *File) LocalImages() []OfPath { return f.containers("image", (*Container).Local) }

// SeccompFiles of a file are the profiles that it gives so. Values of a sweep are not among them.
func (f *File) SeccompFiles() []OfPath { return f.containers("seccomp", (*Container).SeccompByPath) }

// containers of a file that have a field by a path.
func (f *File) containers(field string, have func(*Container) bool) []OfPath {
	var all []OfPath
	ends := func(kind, name, path string, endpoints []Endpoint) {
		for i, e := range endpoints {
			if have(e.Container) {
				all = append(all, OfPath{kind, name, item(joinPath(path, "endpoints"), i) + ".container." + field, e.Container})
			}
		}
	}
	add := func(kind, name, path string, functions []Function) {
		for i, fn := range functions {
			if have(fn.Container) {
				all = append(all, OfPath{kind, name, item(joinPath(path, "functions"), i) + ".container." + field, fn.Container})
			}
		}
	}
	for _, c := range f.Chains {
		ends(KindChain, c.Metadata.Name, "spec", c.Spec.Endpoints)
		add(KindChain, c.Metadata.Name, "spec", c.Spec.Functions)
	}
	for _, x := range f.Experiments {
		ends(KindExperiment, x.Metadata.Name, "spec.chain", x.Spec.Chain.Endpoints)
		add(KindExperiment, x.Metadata.Name, "spec.chain", x.Spec.Chain.Functions)
		for i, m := range x.Spec.Mixes {
			add(KindExperiment, x.Metadata.Name, item("spec.mixes", i), m.Functions)
		}
	}
	return all
}
