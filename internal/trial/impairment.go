package trial

// Impairment is what an impair function did on purpose in one direction. Seen +
// Duplicated = Dropped + Overflowed + Left + Refused + what it holds.
type Impairment struct {
	Node string `json:"node"`
	// Direction is forward or reverse.
	Direction string `json:"direction"`
	// Seen packets reached the program; Unread ones did not, because it was not there
	// or too slow.
	Seen   uint64 `json:"seen_packets"`
	Unread uint64 `json:"unread_packets"`
	// Dropped, Duplicated, Reordered and Delayed were what was asked for. Reordered ones
	// that too few packets followed were let go after a while: GivenUp.
	Dropped    uint64 `json:"dropped_packets"`
	Duplicated uint64 `json:"duplicated_packets"`
	Reordered  uint64 `json:"reordered_packets"`
	GivenUp    uint64 `json:"given_up_packets"`
	Delayed    uint64 `json:"delayed_packets"`
	// Overflowed were dropped because the limit of packets held was reached.
	Overflowed uint64 `json:"overflowed_packets"`
	// Left packets went on; Refused ones the kernel did not take back.
	Left    uint64 `json:"left_packets"`
	Refused uint64 `json:"refused_packets"`
	// Unstamped packets are late by more than is known: the kernel did not tell when
	// they came.
	Unstamped uint64 `json:"unstamped_packets"`
	// Late is how long after its time the kernel was given each packet, a histogram as in
	// [Trial.Histograms]: what the function's delay has beyond what was asked for.
	Late string `json:"late_ns"`
}
