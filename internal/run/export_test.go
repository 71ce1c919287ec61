package run

// Proven and Planned are proven and what is planned of what is remembered, for tests.
var (
	Proven  = proven
	Planned = (*Host).planned
)
