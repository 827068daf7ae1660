package export

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// The environment of a child that exports until it is killed.
const childFrom, childTo = "CTXTOOL_EXPORT_FROM", "CTXTOOL_EXPORT_TO"

// TestExportChild is no test: it is what TestKill kills.
func TestExportChild(t *testing.T) {
	from, to := os.Getenv(childFrom), os.Getenv(childTo)
	if from == "" {
		t.Skip("left out: it is what TestKill starts")
	}
	o := options(to)
	fmt.Println("begins")
	export(t, o, "parquet", inputs(t, from))
}

// TestKill: an export that is killed at any moment leaves no half file under a name, and loses
// nothing: run again, it gives what one gives that is not killed. Sessions grow meanwhile.
func TestKill(t *testing.T) {
	t.Parallel()
	dir, out, fresh := folder(t), t.TempDir(), t.TempDir()
	all := inputs(t, dir)
	self := must.Get(os.Executable())
	start := time.Now()
	export(t, options(fresh), "parquet", all)
	takes := time.Since(start)
	kills, ended := corpus.Pick(10, 200), 0
	for k := range kills {
		grow := all[k%len(all)].Path
		f := must.Get(os.OpenFile(grow, os.O_APPEND|os.O_WRONLY, 0))
		must.Get(fmt.Fprintf(f, `{"type":"custom","id":"f%07x","parentId":null,"timestamp":"2026-11-03T10:00:00.000Z","customType":"x","data":1}`+"\n", k))
		must.Do(f.Close())
		c := exec.Command(self, "-test.run=^TestExportChild$")
		c.Env = append(os.Environ(), childFrom+"="+dir, childTo+"="+out)
		said := must.Get(c.StdoutPipe())
		must.Do(c.Start())
		said.Read(make([]byte, 1))                                      // the process has begun
		time.Sleep(time.Duration(rand.Int64N(int64(takes>>(k%8)) + 1))) // the next ones have less to do
		c.Process.Kill()
		if c.Wait() == nil {
			ended++
		}
		rowsIn(t, out) // every file that has a name is whole
	}
	if ended == kills {
		t.Errorf("all %d exports ended before they were killed", kills)
	}
	export(t, options(out), "parquet", all)
	os.RemoveAll(fresh)
	export(t, options(fresh), "parquet", all)
	same(t, fmt.Sprintf("after %d kills", kills), rowsIn(t, out), rowsIn(t, fresh))
}
