package builtin

import (
	"fmt"
	"strconv"
	"strings"
)

// genes are the frame sizes that letters stand for (RFC 6985 §4); z is the largest
// that the path takes, which is written with its size here.
var genes = map[byte]int{'a': 64, 'b': 128, 'c': 256, 'd': 512, 'e': 1024, 'f': 1280, 'g': 1518, 'h': 2112}

// parseGenome reads a mix of frame sizes. Sizes that no letter stands for are written
// in braces with as many of them as there are (a{1400}a), which is the custom table
// that the RFC asks for, in one line.
func parseGenome(text string) (sizes []int, err error) {
	for rest := text; rest != ""; {
		if size, ok := genes[rest[0]]; ok {
			sizes, rest = append(sizes, size), rest[1:]
			continue
		}
		inner, after, ok := strings.Cut(strings.TrimPrefix(rest, "{"), "}")
		size, err := strconv.Atoi(inner)
		if rest[0] != '{' || !ok || err != nil || size < 64 || size > 9216 {
			return nil, fmt.Errorf("IMIX %q: %q is no frame size: letters are a (64), b (128), c (256), d (512), e (1024), f (1280), g (1518) and h (2112) of RFC 6985, others a size in braces, {1400}", text, rest)
		}
		sizes, rest = append(sizes, size), after
	}
	if len(sizes) == 0 || len(sizes) > maxShapes {
		return nil, fmt.Errorf("IMIX %q has %d frames: 1 to %d are possible", text, len(sizes), maxShapes)
	}
	return sizes, nil
}
