package nsh

// Object is the programs as they were compiled.
func Object() []byte { return _ProgramBytes }
