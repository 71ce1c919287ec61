# nfchain: every target installs what it needs first, and says what.
.DELETE_ON_ERROR:

GO ?= go
export CGO_ENABLED ?= 0

.PHONY: build demo images test test-hugepages test-images test-vm test-versions test-slow bench fuzz lint schema bpf packages packages-test clean

build: bin/nfchain

bin/nfchain: FORCE
	$(GO) build -trimpath -ldflags '-s -w' -o $@ ./cmd/nfchain

FORCE:

# What the demo runs: the programs that measure.
packages:
	@./scripts/packages iproute2 nftables iperf3 sockperf iputils-ping fping

# What the tests run besides.
packages-test: packages
	@./scripts/packages busybox-static docker.io buildah containerd containernetworking-plugins podman lxc ffmpeg iptables procps util-linux ethtool nginx openvswitch-switch haproxy squid shorewall gcc libc6-dev libndpi-dev libnetfilter-queue-dev
	-@./scripts/packages --backports suricata

demo: packages build
	@./scripts/demo

test: packages-test build
	@./scripts/test

# Images of functions with real software in them, built by ENGINE, or by what there is.
images: build
	@./scripts/images $(IMAGES)

# Each of them in a chain, with an engine of its own. It takes half a gigabyte and some minutes, and so is no part of test.
test-images: packages-test build
	@./scripts/test-images $(IMAGES)

# Containers with hugepages, by each engine. Pages are reserved and control groups mounted meanwhile, which all on the machine meet.
test-hugepages: packages-test
	NFCHAIN_TEST_ALONE=1 $(GO) test ./cmd/nfchain -count 1 -v -run '^TestScripts$$/^hugepages$$'

# What this machine's kernel may lack, in virtual machines with Debian's.
test-vm:
	@./scripts/test-vm $(CHECKS)

# An earlier version and this one in turn, at chains that carry packets.
test-versions: packages-test
	@./scripts/test-versions

# Edits of chains that carry packets, with a pause behind each change in the kernel.
test-slow: packages-test
	@./scripts/test-slow

bench: packages build
	@./scripts/bench

fuzz:
	@./scripts/fuzz

lint:
	@./scripts/lint

schema:
	$(GO) run ./cmd/nfchain schema > api/v1alpha1/schema.json

# The programs for the kernel, after a change of their C; what they compile to is
# committed.
bpf:
	@./scripts/bpf

clean:
	rm -rf bin
