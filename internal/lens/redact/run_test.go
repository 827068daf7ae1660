package redact

import (
	"crypto/sha256"
	"ctxtool/internal/test/must"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestRunWorkers: several sessions are learned at once, and texts about them redacted meanwhile.
func TestRunWorkers(t *testing.T) {
	run := must.Get(New(Options{})).NewRun()
	defer run.Close()
	var all sync.WaitGroup
	for k := range 8 {
		secret := fmt.Sprintf("ghp_%x", sha256.Sum256([]byte{byte(k)}))[:40]
		all.Go(func() {
			must.Do(run.Learn(strings.NewReader(strings.Repeat("x", 100*k) + ` {"token":"` + secret + `"}` + "\n")))
			if text := run.About("see " + secret); strings.Contains(text, secret) {
				t.Errorf("told: %s", text)
			}
		})
	}
	all.Wait()
}
