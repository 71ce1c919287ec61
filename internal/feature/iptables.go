package feature

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// iptables of either variant, legacy or nf_tables.
var iptables = tool{
	name:    IPTables,
	command: run("iptables", "--version"),
	version: match(`iptables v(\S+ \((?:legacy|nf_tables)\)|\S+)`),
	debian:  "iptables",
}

// The rules that are tried: one that any iptables takes, one that needs xt_connbytes.
var (
	plainRule = []string{"-A", "FORWARD", "-s", "198.51.100.1", "-j", "DROP"}
	bytesRule = []string{"-A", "FORWARD", "-m", "connbytes", "--connbytes", "1:",
		"--connbytes-dir", "both", "--connbytes-mode", "bytes", "-j", "DROP"}
)

func askIPTables(ctx context.Context, env Env) answer {
	version := iptables.ask(ctx, env)
	if !version.present {
		return version
	}
	err := tryRule(ctx, env, "iptables", plainRule)
	if err == nil {
		return version
	}
	a := iptablesFailed(env, err)
	a.detail = version.detail
	if other := workingVariant(ctx, env); other != "" && !errors.Is(err, errNoScratch) {
		path, _ := env.look(other)
		a.fix = "update-alternatives --set iptables " + path
	}
	return a
}

func askIPTBytes(ctx context.Context, env Env) answer {
	if err := tryRule(ctx, env, "iptables", bytesRule); err != nil {
		return iptablesFailed(env, err)
	}
	return yes("")
}

// workingVariant is the variant that takes rules where the chosen one does not.
func workingVariant(ctx context.Context, env Env) string {
	for _, program := range []string{"iptables-nft", "iptables-legacy"} {
		if tryRule(ctx, env, program, plainRule) == nil {
			return program
		}
	}
	return ""
}

func iptablesFailed(env Env, err error) answer {
	var outside outsidePath
	switch {
	case errors.Is(err, errNoScratch):
		return no("cannot be asked: "+err.Error(), env.rootFix())
	case errors.Is(err, errNotFound), errors.As(err, &outside):
		return iptables.failed(err)
	default:
		return no(err.Error(), "nftables instead, or a kernel built with CONFIG_NETFILTER_XTABLES")
	}
}

// tryRule adds a rule in a scratch namespace.
func tryRule(ctx context.Context, env Env, program string, rule []string) error {
	lock, err := lockFile()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	c := run(program, rule...)
	c.file = lock
	c.env = []string{"XTABLES_LOCKFILE=" + inheritedFile}
	return inScratch(ctx, func() error {
		_, err := env.output(ctx, c)
		return err
	})
}

// lockFile is what the legacy variant locks: the host's own file would be created
// by asking, made to wait, or refused to those who are not root. It has no name, so
// that a probe that is killed leaves nothing.
func lockFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("lock of iptables", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("no place for the lock of iptables: %w", err)
	}
	return os.NewFile(uintptr(fd), "lock of iptables"), nil
}
