package observe

import "nfchain.dev/nfchain/internal/feature/procfs"

// sensors gathers what is read several times during a trial: the mean of each
// core's frequency, the highest of each temperature.
type sensors struct {
	sum     []float64 // Hz by core
	n       int
	celsius map[string]float64
}

func (s *sensors) read(root procfs.Root) {
	s.addFrequencies(root.Frequencies())
	s.addTemperatures(root.Temperatures())
}

// addFrequencies leaves out a reading of other cores than the first reading's.
func (s *sensors) addFrequencies(hz []float64) {
	if s.n == 0 {
		s.sum = make([]float64, len(hz))
	}
	if len(hz) == 0 || len(hz) != len(s.sum) {
		return
	}
	for i, f := range hz {
		s.sum[i] += f
	}
	s.n++
}

func (s *sensors) addTemperatures(celsius map[string]float64) {
	for name, c := range celsius {
		if s.celsius == nil {
			s.celsius = map[string]float64{}
		}
		if highest, ok := s.celsius[name]; !ok || c > highest {
			s.celsius[name] = c
		}
	}
}

func (s *sensors) frequencies() []float64 {
	if s.n == 0 {
		return nil
	}
	mean := make([]float64, len(s.sum))
	for i, sum := range s.sum {
		mean[i] = sum / float64(s.n)
	}
	return mean
}
