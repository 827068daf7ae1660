package check

import (
	"os"
	"testing"
	"time"
)

func TestProf(t *testing.T) {
	ch, _ := Choose(nil, nil)
	at := time.Now()
	File(os.Getenv("PROF"), Options{Choice: ch})
	t.Log(time.Since(at))
}
