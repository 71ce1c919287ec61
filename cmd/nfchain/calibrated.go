package main

import (
	"context"
	"fmt"
	"maps"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// calibratedCells are an experiment's points as conditions, and behind them those at what a
// calibration found. All of the latter have the same settings, so that they can be compared:
// what one of them cannot have is left out for all.
type calibratedCells struct {
	conditions []trial.Condition
	infeasible []trial.Infeasible
	chains     []api.Chain
	// best is what they are at; empty where there is no calibration.
	best map[string]any
	// lost are those that other settings would have let be measured, perhaps.
	lost []trial.Infeasible
}

// cellsOf an experiment's points, with as many of a calibration's settings as can be had.
func (s subject) cellsOf(ctx context.Context, points []experiment.Point) (calibratedCells, error) {
	first, err := s.cellsAt(ctx, points, s.best)
	found := first
	for _, fewer := range experiment.FewerSettings(s.best) {
		if err != nil || len(found.lost) == 0 {
			break
		}
		var c calibratedCells
		if c, err = s.cellsAt(ctx, points, fewer); err == nil && len(c.lost) < len(found.lost) {
			found = c
		}
	}
	s.m.Chains = found.chains
	// Why some are left out is what was lost where all settings were asked for.
	found.lost = first.lost
	return found, err
}

func (s subject) cellsAt(ctx context.Context, points []experiment.Point, best map[string]any) (calibratedCells, error) {
	s.m.Chains = nil
	c := calibratedCells{best: best}
	var err error
	c.conditions, c.infeasible, err = s.m.Cells(ctx, s.x.Metadata.Name, experiment.AtCalibrated(points, best))
	c.infeasible, c.lost = experiment.CalibratedLost(c.infeasible)
	c.chains = s.m.Chains
	return c, err
}

// put what is calibrated into a run.
func (c calibratedCells) put(r *trial.Run, all map[string]any) {
	if !experiment.AnyCalibrated(r.Conditions) {
		return
	}
	r.Calibrated = c.best
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(name string, _ any) bool { _, has := c.best[name]; return has })
	if len(out) > 0 && len(c.lost) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("Left out of the calibrated load, because not every condition can have it: %s (%s: %s)",
			experiment.Describe(out), experiment.Describe(c.lost[0].Factors), c.lost[0].Reason))
	}
}
