package v1alpha1

// LocalImage is an image that a file gives by its path.
type LocalImage struct {
	// Kind and Name of the document, and the Path of the field in it.
	Kind, Name, Path string
	// Of is the container that it is of.
	Of *Container
}

// LocalImages of a file, in its order. Values of a sweep are not among them.
func (f *File) LocalImages() []LocalImage {
	var all []LocalImage
	add := func(kind, name, path string, functions []Function) {
		for i, fn := range functions {
			if fn.Container.Local() {
				all = append(all, LocalImage{kind, name, item(joinPath(path, "functions"), i) + ".container.image", fn.Container})
			}
		}
	}
	for _, c := range f.Chains {
		add(KindChain, c.Metadata.Name, "spec", c.Spec.Functions)
	}
	for _, x := range f.Experiments {
		add(KindExperiment, x.Metadata.Name, "spec.chain", x.Spec.Chain.Functions)
		for i, m := range x.Spec.Mixes {
			add(KindExperiment, x.Metadata.Name, item("spec.mixes", i), m.Functions)
		}
	}
	return all
}
