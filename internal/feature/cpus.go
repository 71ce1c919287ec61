package feature

import "nfchain.dev/nfchain/internal/feature/procfs"

// AllowedCPUs are the CPUs that this process may use, in ascending order; none where the
// machine does not tell.
func (s Set) AllowedCPUs() []int {
	cpus, _ := procfs.ParseList(field(s.env.text("proc/self/status"), "Cpus_allowed_list"))
	return cpus
}
