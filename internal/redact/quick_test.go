package redact

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestQuick(t *testing.T) {
	t0 := time.Now()
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("new", time.Since(t0), len(r.words.next)/r.words.stride, r.words.stride)
	for _, rule := range r.rules {
		if rule.anchors == nil {
			fmt.Println("no anchors", rule.ID, rule.Keywords)
		} else if rule.gated {
			fmt.Println("gated", rule.ID, rule.Keywords, rule.anchors)
		}
	}
	files, _ := filepath.Glob("/work/shared/corpus/*.jsonl")
	for pass := range 2 {
		_ = pass
		for _, f := range files {
			data, _ := os.ReadFile(f)
			var out bytes.Buffer
			var tl Tally
			t0 := time.Now()
			err := r.Filter(&out, bytes.NewReader(data), &tl)
			d := time.Since(t0)
			fmt.Printf("%s %d %.0f MB/s %v %v s%d i%d\n", filepath.Base(f), len(data), float64(len(data))/1e6/d.Seconds(), err, len(tl.Found()), tl.Sealed, tl.Images)
			if pass == 1 {
				for _, x := range tl.Found() {
					fmt.Println("   ", x.Rule, x.Values, x.Places)
				}
				var again bytes.Buffer
				if err := r.Filter(&again, bytes.NewReader(out.Bytes()), nil); err != nil || !bytes.Equal(again.Bytes(), out.Bytes()) {
					fmt.Println("NOT IDEMPOTENT", err)
				}
				os.WriteFile("/tmp/redact-out-"+filepath.Base(f), out.Bytes(), 0o644)
			}
		}
	}
}
