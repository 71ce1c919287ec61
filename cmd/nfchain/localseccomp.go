package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/registry"
)

// readProfiles of seccomp that a file gives by their paths, which are from where the file is: its containers have what is in them.
func readProfiles(filename string, text []byte, f *api.File) error {
	var wrong api.Problems
	for _, i := range f.SeccompFiles() {
		path, err := from(filename, i.Of.Seccomp)
		if err == nil {
			i.Of.Seccomp, err = profileOf(path)
		}
		if err != nil {
			wrong = append(wrong, registry.Words().Wrong(filename, text, i.Kind, i.Name, i.Path, path+": "+err.Error()))
		}
	}
	return inOrder(wrong)
}

// profileOf a file is what is in it, in one line.
func profileOf(path string) (string, error) {
	text, err := os.ReadFile(path)
	var not *os.PathError
	if errors.As(err, &not) {
		return "", not.Err // the path is told before
	}
	if err != nil {
		return "", err
	}
	if _, err := api.ParseSeccomp(text); err != nil {
		return "", err
	}
	var line bytes.Buffer
	err = json.Compact(&line, text)
	return line.String(), err
}
