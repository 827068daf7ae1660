package stats

import (
	"cmp"
	"math"
	"slices"

	"ctxtool/replay/models"
)

// A fitRequest is a request of a calibration: tokens as the counter counts its prompt, and as the
// provider recorded it.
type fitRequest struct{ counted, recorded float64 }

// A calibrationGroup is the requests that a model answered on the path of a session.
// What the file does not hold of them is the same for all: prompt and tools, and where
// it has these, what a provider adds.
type calibrationGroup struct {
	model    models.Ref
	requests []fitRequest
	hidden   float64 // tokens, once it has been fitted
	none     bool    // nothing is hidden: it came out below 0
	fitted   bool
}

const (
	// leastRequests is from how many requests on there is a factor.
	leastRequests = 10
	// leastOfSession is how many of them a session has to have: two requests fit any
	// factor together with any constant.
	leastOfSession = 3
)

// usable reports whether the group can tell something of the factor.
func (g *calibrationGroup) usable() bool {
	least, most := math.Inf(1), 0.0
	for _, r := range g.requests {
		least, most = min(least, r.counted), max(most, r.counted)
	}
	return len(g.requests) >= leastOfSession && least < most
}

// A slope is how much the recorded size grows by the counted, and how far apart the
// two requests are that say so.
type slope struct{ slope, weight float64 }

// slopes adds what the group says of the factor. Where nothing is hidden it is the ratio
// of each request. Elsewhere only differences tell: by size, each
// request of the smaller half is paired with the one as far on in the larger half
// (Theil's incomplete method), so that what is hidden goes out, pairs are far apart, and
// a million requests are half a million pairs.
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

// middle is the weighted median: where half of the weight is below.
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

// quantile is the smallest number that has at least that share of the numbers up to it.
func quantile(sorted []float64, share float64) float64 {
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// fit is recorded = factor * counted + hidden over all sessions of a model, one factor
// and a constant a session. A median is not moved by the few requests that providers
// count otherwise (what was dropped or added on the way, another prompt for a while),
// where least squares would follow the largest of them. Nothing has less than no tokens:
// sessions whose constant comes out below 0 are taken as if nothing were hidden there,
// and the factor is fitted again. ok is false where the requests do not tell one.
func fit(groups []*calibrationGroup) (factor float64, errs errorRange, ok bool) {
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
		g.fitted = true
		for _, r := range g.requests {
			off = append(off, math.Abs(factor*r.counted+g.hidden-r.recorded)/r.recorded)
		}
	}
	slices.Sort(off)
	return factor, errorRange{quantile(off, 0.5), quantile(off, 0.9)}, true
}

// rest is the median of what the requests have beyond the factor.
func (g *calibrationGroup) rest(factor float64) float64 {
	rests := make([]float64, len(g.requests))
	for i, r := range g.requests {
		rests[i] = r.recorded - factor*r.counted
	}
	slices.Sort(rests)
	return quantile(rests, 0.5)
}
