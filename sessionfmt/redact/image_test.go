package redact

import (
	"bytes"
	"strings"
	"testing"

	"ctxtool/internal/must"
)

// TestImageThatIsNone: a secret instead of an image's data is found, and a picture is
// unchanged.
func TestImageThatIsNone(t *testing.T) {
	const value = "supersecretvalue123"
	r := must.Get(New(Options{Values: []string{value}}))
	for _, line := range []string{
		`{"type":"message","message":{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"` + value + `"}]}}`,
		`{"type":"custom","data":{"data":"` + value + `","type":"image"}}`,
	} {
		x := r.NewRun()
		out, err := x.line([]byte(line))
		if err != nil || bytes.Contains(out, []byte(value)) || x.Tally.Images != 0 {
			t.Errorf("%s: %d images, %v", out, x.Tally.Images, err)
		}
		x.Close()
	}
	single := must.Get(New(Options{Images: true}))
	for _, head := range []string{"", "data:image/jpeg;base64,"} { // wherever one is
		big := "/9j/" + strings.Repeat("A", 96)
		if out := string(redacted(single, []byte(`{"toolUseResult":{"file":{"base64":"`+head+big+`"}}}`))); out != `{"toolUseResult":{"file":{"base64":"`+head+pixel+`"}}}` {
			t.Error(out)
		}
	}
	x := r.NewRun()
	defer x.Close()
	picture := `{"type":"message","message":{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"` + pixel + `"}]}}`
	if out, err := x.line([]byte(picture)); err != nil || string(out) != picture || x.Tally.Images != 1 {
		t.Errorf("%s: %d images, %v", out, x.Tally.Images, err)
	}
}
