package report

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"

	"nfchain.dev/nfchain/internal/trial"
)

// parquetRow is one metric of one trial with its condition, as CSV has it but typed. What
// was not set is null.
type parquetRow struct {
	Run            string    `parquet:"run,dict"`
	Chain          string    `parquet:"chain,dict"`
	Condition      int32     `parquet:"condition"`
	Path           string    `parquet:"path,dict"`
	Protocol       string    `parquet:"protocol,dict"`
	Tool           string    `parquet:"tool,dict"`
	Flows          int32     `parquet:"flows"`
	PayloadSize    *int64    `parquet:"payload_size,optional"`
	FrameSize      *int64    `parquet:"frame_size,optional"`
	IMIX           *string   `parquet:"imix,optional,dict"`
	Pattern        *string   `parquet:"pattern,optional,dict"`
	Burst          *int64    `parquet:"burst,optional"`
	IPVersion      *int32    `parquet:"ip_version,optional"`
	VLAN           *int32    `parquet:"vlan,optional"`
	FlowsBy        *string   `parquet:"flows_by,optional,dict"`
	RequestSize    *int64    `parquet:"request_size,optional"`
	ResponseSize   *int64    `parquet:"response_size,optional"`
	BusyLoop       bool      `parquet:"busy_loop"`
	URL            *string   `parquet:"url,optional,dict"`
	RequestRate    *int64    `parquet:"request_rate,optional"`
	ActiveChains   int32     `parquet:"active_chains"`
	IdleContainers int32     `parquet:"idle_containers"`
	Harm           *string   `parquet:"harm,optional"`
	OfferedBps     *float64  `parquet:"offered_bps,optional"`
	OfferedPps     *float64  `parquet:"offered_pps,optional"`
	Zerocopy       bool      `parquet:"zerocopy"`
	Bidirectional  bool      `parquet:"bidirectional"`
	Affinity       string    `parquet:"affinity,dict"`
	Length         int32     `parquet:"length"`
	DurationS      float64   `parquet:"duration_s"`
	Instances      *string   `parquet:"instances,optional,dict"`
	Factors        string    `parquet:"factors,dict,json"`
	Repeat         int32     `parquet:"repeat"`
	Step           *int32    `parquet:"step,optional"`
	StartedAt      time.Time `parquet:"started_at,timestamp(microsecond)"`
	TrialDurationS float64   `parquet:"trial_duration_s"`
	Metric         string    `parquet:"metric,dict"`
	Value          float64   `parquet:"value"`
	// Reason of the metric infeasible, whose value is 1, in a row without a trial.
	Reason *string `parquet:"reason,optional"`
}

// Parquet writes one row for every metric of every trial, raw, as an Apache
// Parquet file.
func Parquet(w io.Writer, r Report) error {
	out := parquet.NewGenericWriter[parquetRow](w, parquet.Compression(&parquet.Zstd))
	for _, t := range r.Run.Trials {
		if t.Condition < 0 || t.Condition >= len(r.Run.Conditions) {
			continue
		}
		rows, err := r.rowsOf(t)
		if err == nil {
			_, err = out.Write(rows)
		}
		if err != nil {
			return err
		}
	}
	rows, err := r.infeasibleParquet()
	if err == nil {
		_, err = out.Write(rows)
	}
	if err != nil {
		return err
	}
	return out.Close()
}

func (r Report) infeasibleParquet() (rows []parquetRow, err error) {
	for _, c := range r.Run.Infeasible {
		factors, err := json.Marshal(c.Factors)
		if err != nil {
			return nil, err
		}
		rows = append(rows, parquetRow{Run: r.Run.ID, Chain: r.Run.Chain, Condition: -1, Factors: string(factors),
			Metric: "infeasible", Value: 1, Reason: unlessZero(c.Reason), StartedAt: r.Run.CreatedAt})
	}
	return rows, nil
}

func (r Report) rowsOf(t trial.Trial) ([]parquetRow, error) {
	c := r.Run.Conditions[t.Condition]
	factors, err := json.Marshal(c.Factors)
	if err != nil {
		return nil, err
	}
	var rows []parquetRow
	for _, metric := range slices.Sorted(maps.Keys(t.Metrics)) {
		rows = append(rows, parquetRow{
			Run: r.Run.ID, Chain: r.Run.Chain, Condition: int32(t.Condition), Path: c.Path, Protocol: c.Protocol, Tool: c.Tool,
			Flows: int32(c.Flows), PayloadSize: unlessZero(int64(c.PayloadSize)), FrameSize: unlessZero(int64(c.FrameSize)),
			IMIX: unlessZero(c.IMIX), Pattern: unlessZero(c.Pattern), Burst: unlessZero(int64(c.Burst)), IPVersion: unlessZero(int32(c.IPVersion)),
			VLAN: unlessZero(int32(c.VLAN)), FlowsBy: unlessZero(c.FlowsBy), RequestSize: unlessZero(int64(c.RequestSize)),
			ResponseSize: unlessZero(int64(c.ResponseSize)), BusyLoop: c.BusyLoop, URL: unlessZero(c.URL), RequestRate: unlessZero(int64(c.RequestRate)), ActiveChains: int32(activeChains(c)),
			IdleContainers: int32(c.IdleContainers), Harm: unlessZero(c.Harm), OfferedBps: unlessZero(c.OfferedBps), OfferedPps: unlessZero(c.OfferedPps),
			Zerocopy: c.Zerocopy, Bidirectional: c.Bidirectional, Affinity: c.Affinity, Length: int32(c.Length),
			DurationS: c.DurationS, Instances: unlessZero(instancesText(c)), Factors: string(factors), Repeat: int32(t.Repeat), Step: unlessZero(int32(t.Step)),
			StartedAt: t.StartedAt, TrialDurationS: t.DurationS, Metric: metric, Value: t.Metrics[metric],
		})
	}
	return rows, nil
}

// unlessZero is nil for what is not set.
func unlessZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
