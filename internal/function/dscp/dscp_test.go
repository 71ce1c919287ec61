package dscp

import "testing"

func TestCodes(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "63": 63, "ef": 46, "EF": 46, "va": 44, "le": 1, "cs0": 0, "cs7": 56, "af11": 10, "af23": 22, "af43": 38,
		"": -1, "64": -1, "-1": -1, "cs8": -1, "af10": -1, "af51": -1, "af14": -1, "best": -1,
	} {
		got, err := Code(text).point()
		if want < 0 && err == nil || want >= 0 && (err != nil || int(got) != want) {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
		if wrong := (&Options{Code: Code(text)}).Validate(); (len(wrong) > 0) != (want < 0) {
			t.Errorf("%q: %v", text, wrong)
		}
	}
}
