# The CPUs, the time of each 100 ms of them, and the memory that the control groups of a process let it use.
pid=$1
of() {
    path=$(sed -n "s/^[0-9]*:\(.*,\)\?$1\(,.*\)\?:\//\//p" /proc/$pid/cgroup)
    if [ "$path" ]; then
        cat /sys/fs/cgroup/$1$path/$2
    else
        sed 's/ .*//' /sys/fs/cgroup$(sed -n 's/^0::\//\//p' /proc/$pid/cgroup)/$3
    fi
}
echo $(of cpuset cpuset.cpus cpuset.cpus) $(of cpu cpu.cfs_quota_us cpu.max) $(of memory memory.limit_in_bytes memory.max)
