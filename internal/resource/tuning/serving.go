package tuning

import (
	"cmp"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/words"
)

// None is the value of a knob that is a list of cores, or a bound, and is not set.
const None = "none"

// differs is the value where the parts of an interface are not alike.
const differs = "differs"

// serving is who takes packets off the queues: threads of their own, and which cores.
var serving = []knob{
	{name: "threaded_napi", code: "th", read: readThreaded, write: writeThreaded, command: threadedCommand,
		hint: "a veth has threads only where it receives by NAPI: with gro: true"},
	napiCPUs,
	mask("rps", "rp", "rx", "rps_cpus"),
	mask("xps", "xp", "tx", "xps_cpus"),
}

func threaded(at *port) string { return "class/net/" + at.device() + "/threaded" }

func readThreaded(at *port) (string, error) {
	s, err := at.sysfs()
	if err != nil {
		return "", err
	}
	text, err := s.Read(threaded(at))
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(text)
	return strconv.FormatBool(n != 0), err
}

func writeThreaded(at *port, value string) error {
	s, err := at.sysfs()
	if err != nil {
		return err
	}
	return s.Write(threaded(at), digit(value))
}

// mask is a list of cores that every queue of a kind has.
func mask(name, code, kind, file string) knob {
	return knob{
		name: name, code: code, command: maskCommand(kind, file),
		read: func(at *port) (string, error) {
			s, err := at.sysfs()
			if err != nil {
				return "", err
			}
			all, err := s.Queues(at.device(), kind)
			value := ""
			for i, queue := range all {
				text, err := s.Read(queue + "/" + file)
				if err != nil {
					return "", err
				}
				cores, err := coresOf(text)
				if err != nil {
					return "", err
				}
				if i > 0 && cores != value {
					return differs, nil
				}
				value = cores
			}
			return value, err
		},
		write: func(at *port, value string) error {
			s, err := at.sysfs()
			if err != nil {
				return err
			}
			text, err := maskOf(value)
			if err != nil {
				return err
			}
			all, err := s.Queues(at.device(), kind)
			for _, queue := range all {
				if err := s.Write(queue+"/"+file, text); err != nil {
					return err
				}
			}
			return err
		},
		hint: "the kernel leaves out cores that are not there or not online, and an interface with room for one queue only has no xps",
	}
}

// word is how many cores the kernel writes between two commas.
const word = 32

// coresOf a mask as the kernel writes it, "00000001,0000000f", as a list: 0-3,32.
func coresOf(text string) (string, error) {
	var cores []int
	parts := strings.Split(text, ",")
	for i := range parts {
		w, err := strconv.ParseUint(parts[len(parts)-1-i], 16, word)
		if err != nil {
			return "", fmt.Errorf("%q is not a mask of cores", text)
		}
		for ; w != 0; w &= w - 1 {
			cores = append(cores, i*word+bits.TrailingZeros64(w))
		}
	}
	return listed(cores), nil
}

// listed is the cores as ranges, or none.
func listed(cores []int) string { return cmp.Or(words.Ranges(cores), None) }

// maskOf is the inverse of coresOf.
func maskOf(list string) (string, error) {
	words := []uint32{0}
	for _, part := range strings.Split(list, ",") {
		if list == None {
			break
		}
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err1 := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil {
			return "", fmt.Errorf("%q is not a list of cores", list)
		}
		for core := first; core <= last; core++ {
			for len(words) <= core/word {
				words = append(words, 0)
			}
			words[core/word] |= 1 << (core % word)
		}
	}
	var text []string
	for i := range words {
		text = append(text, fmt.Sprintf("%08x", words[len(words)-1-i]))
	}
	return strings.Join(text, ","), nil
}
