package claude_test

import (
	"math"
	"slices"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestSizes: what is rebuilt of each request, a quarter of its characters, explains what the
// provider counted, by a straight line for each session. It prints how well, and how well
// with a constant for each part between compactions: what the program attaches after one is not
// in the file. least is how large a correlation has to be.
func TestSizes(t *testing.T) {
	for _, test := range []struct {
		file  string
		least float64
	}{
		{"plain-2.1.12.jsonl", 0.99},
		{"old-2.0.64.jsonl", 0.99},
		{"three-compactions-2.1.7.jsonl.gz", 0.9}, // after the first one 20,000 tokens are attached that are in no file
		{"lost-lines-2.1.29.jsonl.gz", 0.95},
		{"microcompact-2.1.12.jsonl", 0.99},
		{"glued-line-2.1.7.jsonl", 0.99},
		{"rewind-2.1.12.jsonl", 0.99},
		{"resume-drops-2.1.17.jsonl.gz", 0.95},
		{"attachments-2.1.150.jsonl", 0.99},
		{"image-2.1.112.jsonl", 0.95},
		{"newest-2.1.199.jsonl", 0.99},
		{"hooks-2.1.210.jsonl", 0.99},
		{"hooks-2.1.218.jsonl.gz", 0.99},
		{"subagents-2.1.39/258c7280-ae70-4798-800f-63464d01a85d.jsonl.gz", 0.95},
	} {
		t.Run(test.file, func(t *testing.T) {
			path, _ := sample(t, test.file)
			s := must.Get(sessionfmt.Open(path, sessionfmt.Options{}))
			defer s.Close()
			var rebuilt, counted []float64
			var parts []int // where each part begins
			r := s.NewReader()
			p := replay.New(s, replay.Options{})
			meter, before := ledger.New(p, ledger.Options{Counter: &tokens.Pi, Sizes: true}).Meter(), 0
			for a, err := range p.Walk(s.Leaf()) {
				if err != nil {
					t.Fatal(err)
				}
				had := before
				before = must.Get(meter.Messages(a))
				if a.Did == replay.Compacted {
					parts = append(parts, len(counted))
				}
				if a.Answers() < 0 {
					continue
				}
				line := must.Get(r.Line(a.Record))
				u := line.Get("message").Get("usage").Usage()
				if u.Prompt() > 0 {
					rebuilt, counted = append(rebuilt, float64(had)), append(counted, float64(u.Prompt()))
				}
			}
			f := fitLine(rebuilt, counted)
			low, high := f.residuals(rebuilt, counted)
			t.Logf("%3d requests: correlation %.4f, error %4.1f%% of the mean, %.2f tokens for one of ours, and %5.0f besides; residuals from %+.0f to %+.0f (5%% to 95%%)",
				len(counted), f.r, 100*f.rms, f.slope, f.offset, low, high)
			if len(parts) > 0 {
				t.Logf("    correlation %.4f with a constant for each of %d parts", fitLine(centred(rebuilt, parts), centred(counted, parts)).r, len(parts)+1)
			}
			if f.r < test.least {
				t.Errorf("correlation %.4f, want at least %g", f.r, test.least)
			}
		})
	}
}

// A fit is a straight line through points: its slope, where it begins, the correlation, and
// the error, a share of the mean.
type fit struct{ slope, offset, r, rms float64 }

func fitLine(x, y []float64) (f fit) {
	n := float64(len(x))
	var sx, sy, sxx, syy, sxy float64
	for i := range x {
		sx, sy = sx+x[i], sy+y[i]
		sxx, syy, sxy = sxx+x[i]*x[i], syy+y[i]*y[i], sxy+x[i]*y[i]
	}
	f.slope = (n*sxy - sx*sy) / (n*sxx - sx*sx)
	f.offset = (sy - f.slope*sx) / n
	f.r = (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy))
	for i := range x {
		d := y[i] - f.offset - f.slope*x[i]
		f.rms += d * d / n
	}
	f.rms = math.Sqrt(f.rms) / (sy / n)
	return f
}

// residuals are how far the provider's counts are from the line: the 5th and 95th percentile.
func (f fit) residuals(x, y []float64) (low, high float64) {
	all := make([]float64, len(x))
	for i := range x {
		all[i] = y[i] - f.offset - f.slope*x[i]
	}
	slices.Sort(all)
	return all[len(all)/20], all[len(all)-1-len(all)/20]
}

// centred returns values less the mean of their part.
func centred(v []float64, parts []int) (all []float64) {
	from := 0
	for _, to := range append(slices.Clone(parts), len(v)) {
		sum := 0.0
		for _, x := range v[from:to] {
			sum += x
		}
		for _, x := range v[from:to] {
			all = append(all, x-sum/float64(to-from))
		}
		from = to
	}
	return all
}
