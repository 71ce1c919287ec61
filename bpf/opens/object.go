package opens

// Object is the program as it was compiled.
func Object() []byte { return _ProgramBytes }
