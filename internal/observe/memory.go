package observe

import "nfchain.dev/nfchain/internal/feature/procfs"

// memoryUsed is the memory that is not available to programs now, bytes.
func memoryUsed(root procfs.Root) *uint64 {
	info := root.Meminfo()
	total, ok := info["MemTotal"]
	available, told := info["MemAvailable"]
	if !ok || !told || available > total {
		return nil
	}
	used := total - available
	return &used
}
