package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/containerd/containerd/v2/contrib/seccomp"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/oci"
	has "github.com/containerd/containerd/v2/pkg/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// securityOptions are those of Docker's API, and over removes what they need until the container is made.
func (d docker) securityOptions(w Wanted) (options []string, over func(), err error) {
	options, over = []string{"no-new-privileges"}, func() {}
	switch {
	case w.Seccomp == "":
	case w.Seccomp == api.Unconfined || d.name != Podman:
		options = append(options, "seccomp="+w.Seccomp)
	default: // Podman takes the path of a profile, where Docker takes what is in it
		file, err := os.CreateTemp("", "nfchain-seccomp-")
		if err != nil {
			return nil, over, err
		}
		over = func() { _ = os.Remove(file.Name()) }
		_, err = file.WriteString(w.Seccomp)
		if wrong := file.Close(); err == nil {
			err = wrong
		}
		if err != nil {
			over()
			return nil, func() {}, err
		}
		options = append(options, "seccomp="+file.Name())
	}
	return options, over, nil
}

// withSeccomp has a container of containerd's make the system calls that it may. What it may by default goes with its capabilities, so this comes
// after those.
func withSeccomp(profile string) oci.SpecOpts {
	switch {
	case profile == "" && has.IsEnabled():
		return seccomp.WithDefaultProfile()
	case profile == "", profile == api.Unconfined:
		return func(context.Context, oci.Client, *containers.Container, *oci.Spec) error { return nil }
	}
	return func(_ context.Context, _ oci.Client, _ *containers.Container, s *oci.Spec) error {
		s.Linux.Seccomp = &specs.LinuxSeccomp{}
		if err := json.Unmarshal([]byte(profile), s.Linux.Seccomp); err != nil {
			return fmt.Errorf("profile of seccomp: %w", err)
		}
		return nil
	}
}
