package observe

import (
	"path"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

// sectorSize is that of /proc/diskstats, whatever the disk's own is.
const sectorSize = 512

// diskSectors is what a disk read and wrote since boot.
type diskSectors struct{ read, written uint64 }

// readDisks reads the disks that have a device behind them. Partitions are part
// of those; loops, RAM disks and mapped disks store what they have on them or
// nowhere. Nil where the machine cannot tell.
func readDisks(root procfs.Root) map[string]diskSectors {
	s, ok := root.Text("proc/diskstats")
	if !ok {
		return nil
	}
	disks := parseDiskstats(s)
	for name := range disks {
		if !root.Exists(path.Join("sys/block", strings.ReplaceAll(name, "/", "!"), "device")) {
			delete(disks, name)
		}
	}
	return disks
}

// parseDiskstats reads /proc/diskstats (Documentation/admin-guide/iostats.rst):
// after the name, the third number is sectors read, the seventh sectors written.
func parseDiskstats(s string) map[string]diskSectors {
	disks := map[string]diskSectors{}
	for line := range strings.Lines(s) {
		fields := strings.Fields(line)
		if len(fields) < 14 || strings.Contains(fields[2], "..") {
			continue
		}
		read, errR := strconv.ParseUint(fields[5], 10, 64)
		written, errW := strconv.ParseUint(fields[9], 10, 64)
		if errR == nil && errW == nil {
			disks[fields[2]] = diskSectors{read, written}
		}
	}
	return disks
}

// diskUse is the bytes that all disks read and wrote between two readings; a disk
// that came in between counts whole. Nil where there is no disk.
func diskUse(before, after map[string]diskSectors) (read, written *uint64) {
	if len(after) == 0 {
		return nil, nil
	}
	read, written = new(uint64), new(uint64)
	for name, a := range after {
		b := before[name]
		*read += grown(b.read, a.read) * sectorSize
		*written += grown(b.written, a.written) * sectorSize
	}
	return read, written
}
