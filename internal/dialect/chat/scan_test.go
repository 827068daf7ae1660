package chat_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestScan: the pass that validates a line finds the id and the time that its head has, and takes
// no line that is broken.
func TestScan(t *testing.T) {
	scanned := map[string]int{}
	err := filepath.WalkDir(samples, func(name string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		first, _, _ := bytes.Cut(data, []byte("\n"))
		v, bad := jsonl.ParseValue(first)
		if bad != nil {
			return nil // a document
		}
		d := sessionfmt.Sniff(v)
		if d == nil || d.Scan == nil {
			return nil
		}
		heads := jsonl.NewHeadReader(d.Pick)
		for line := range bytes.Lines(data) {
			got, size := d.Scan(line)
			ok := size > 0 && len(bytes.TrimSpace(line[size:])) == 0
			p, bad := heads.Read(line)
			if bad != nil && ok {
				t.Errorf("%s: a broken line is taken: %s", name, line)
			}
			if !ok || bad != nil {
				continue
			}
			scanned[d.Name]++
			if p.ID.Exists() && string(got.ID) != string(p.ID) || string(got.Time) != string(p.Timestamp) {
				t.Errorf("%s: id %s, time %s; the head has %s, %s", name, got.ID, got.Time, p.ID, p.Timestamp)
			}
			line = bytes.TrimSpace(line)
			for cut := 0; cut < len(line); cut += 1 + len(line)/2000 {
				for _, end := range []string{"", "}", "]", `"`, `:"`} {
					broken := append(line[:cut:cut], end...)
					_, err := jsonl.ParseValue(broken)
					if _, size := d.Scan(broken); size > 0 && size == len(broken) && err != nil {
						t.Errorf("%s: a broken line is taken: %s", name, broken)
					}
				}
			}
		}
		return nil
	})
	if err != nil || len(scanned) < 3 {
		t.Error(err, scanned)
	}
}
