package stats

import (
	"cmp"
	"math"
	"slices"

	"ctxtool/replay/models"
)

// A fitRequest is a request of a calibration: tokens of its prompt as counted, and as recorded
// by the provider.
type fitRequest struct{ counted, recorded float64 }

// A calibrationGroup is the requests that a model answered on the path of a session. What the
// file does not record is the same for all of them: prompt and tools, or if it has these, what
// a provider adds.
type calibrationGroup struct {
	model    models.Ref
	requests []fitRequest
	hidden   float64 // fitted tokens that the file does not record
	none     bool    // nothing is hidden: the fit was below 0
}

const (
	// leastRequests is the minimum number of requests for a factor.
	leastRequests = 10
	// leastOfSession is the minimum number of requests of a session: two requests fit any
	// factor together with any constant.
	leastOfSession = 3
)

// usable reports whether the group contributes to the factor.
func (g *calibrationGroup) usable() bool {
	least, most := math.Inf(1), 0.0
	for _, r := range g.requests {
		least, most = min(least, r.counted), max(most, r.counted)
	}
	return len(g.requests) >= leastOfSession && least < most
}

// A slope is how much the recorded size grows per counted token between two requests, weighted
// by their distance.
type slope struct{ slope, weight float64 }

// slopes appends the group's slopes. If nothing is hidden that is the ratio of each request.
// Otherwise only differences count: sorted by size, each request of the smaller half is paired
// with one of the larger half (Theil's incomplete method), so that the hidden constant cancels
// out, pairs are far apart, and a million requests are half a million pairs.
func (g *calibrationGroup) slopes(all []slope) []slope {
	if g.none {
		for _, r := range g.requests {
			all = append(all, slope{r.recorded / r.counted, r.counted})
		}
		return all
	}
	by := slices.Clone(g.requests)
	slices.SortStableFunc(by, func(a, b fitRequest) int { return cmp.Compare(a.counted, b.counted) })
	half := (len(by) + 1) / 2
	for i := range len(by) - half {
		a, b := by[i], by[i+half]
		if d := b.counted - a.counted; d > 0 {
			all = append(all, slope{(b.recorded - a.recorded) / d, d})
		}
	}
	return all
}

// middle returns the weighted median.
func middle(all []slope) float64 {
	slices.SortFunc(all, func(a, b slope) int { return cmp.Or(cmp.Compare(a.slope, b.slope), cmp.Compare(a.weight, b.weight)) })
	whole := 0.0
	for _, s := range all {
		whole += s.weight
	}
	below := 0.0
	for _, s := range all {
		if below += s.weight; 2*below >= whole {
			return s.slope
		}
	}
	return math.NaN()
}

// quantile returns the smallest number that is at least as large as that share of the numbers.
func quantile(sorted []float64, share float64) float64 {
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// fit solves recorded = factor * counted + hidden over all sessions of a model, with one factor
// and a constant per session. The median is robust against the few requests that providers
// count differently, while least squares would follow the largest of them. Since sizes cannot
// be negative, sessions with a constant below 0 are refitted with nothing hidden. ok is false
// if the requests do not determine a factor.
func fit(groups []*calibrationGroup) (factor float64, errs ErrorRange, ok bool) {
	for again := true; again; {
		again = false
		var all []slope
		for _, g := range groups {
			all = g.slopes(all)
		}
		factor = middle(all)
		if math.IsNaN(factor) || math.IsInf(factor, 0) || factor <= 0 {
			return 0, errs, false
		}
		for _, g := range groups {
			if g.none {
				continue
			}
			if g.hidden = g.rest(factor); g.hidden < 0 {
				g.none, g.hidden, again = true, 0, true
			}
		}
	}
	var off []float64
	for _, g := range groups {
		for _, r := range g.requests {
			off = append(off, math.Abs(factor*r.counted+g.hidden-r.recorded)/r.recorded)
		}
	}
	slices.Sort(off)
	return factor, ErrorRange{quantile(off, 0.5), quantile(off, 0.9)}, true
}

// rest returns the median of what the requests have beyond the factor.
func (g *calibrationGroup) rest(factor float64) float64 {
	rests := make([]float64, len(g.requests))
	for i, r := range g.requests {
		rests[i] = r.recorded - factor*r.counted
	}
	slices.Sort(rests)
	return quantile(rests, 0.5)
}
