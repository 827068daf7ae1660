package cachefile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// A desk is a cache and files whose lengths are their values.
type desk struct{ dir, cache string }

func (d desk) open(version string) *Cache { return Open(sessionfmt.Disk{}, d.cache, version) }

func (d desk) file(k int) string { return filepath.Join(d.dir, fmt.Sprint(k)) }

// ask returns the value of a file, and whether the cache had it.
func ask(c *Cache, file string) (string, bool) {
	if value, ok := c.Get(file); ok {
		return string(value), true
	}
	value := fmt.Sprint(len(must.Get(os.ReadFile(file))))
	c.Set(file, []byte(value))
	return value, false
}

func newDesk(t *testing.T) desk {
	dir := t.TempDir()
	return desk{dir, filepath.Join(dir, "cache", "lengths")}
}

// TestChanges: a value is never that of a file that has changed.
func TestChanges(t *testing.T) {
	t.Parallel()
	d, random := newDesk(t), rand.New(rand.NewPCG(1, 2))
	hits := 0
	for round := range 60 {
		c := d.open("1")
		for k := range 8 {
			switch change := random.IntN(4); {
			case change == 0 || round == 0:
				must.Do(os.WriteFile(d.file(k), bytes.Repeat([]byte{'a'}, random.IntN(9000)), 0o644))
			case change == 1: // the same size and time
				info := must.Get(os.Stat(d.file(k)))
				text := bytes.Repeat([]byte{byte('b' + random.IntN(20))}, int(info.Size()))
				must.Do(os.WriteFile(d.file(k), text, 0o644))
				must.Do(os.Chtimes(d.file(k), info.ModTime(), info.ModTime()))
			}
			value, had := ask(c, d.file(k))
			if want := fmt.Sprint(len(must.Get(os.ReadFile(d.file(k))))); value != want {
				t.Fatalf("round %d: %s is %s, want %s", round, d.file(k), value, want)
			}
			if had {
				hits++
			}
		}
		must.Do(c.Save())
	}
	if hits < 60 {
		t.Errorf("%d hits", hits)
	}
}

// TestIgnored: a cache that cannot be used is empty, and the next one replaces it.
func TestIgnored(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(d desk){
		"damaged": func(d desk) {
			data := must.Get(os.ReadFile(d.cache))
			data[len(data)-1] ^= 1
			must.Do(os.WriteFile(d.cache, data, 0o644))
		},
		"torn": func(d desk) {
			data := must.Get(os.ReadFile(d.cache))
			must.Do(os.WriteFile(d.cache, data[:len(data)/2], 0o644))
		},
		"empty":              func(d desk) { must.Do(os.WriteFile(d.cache, nil, 0o644)) },
		"gone":               func(d desk) { must.Do(os.Remove(d.cache)) },
		"a folder":           func(d desk) { must.Do(os.Remove(d.cache)); must.Do(os.Mkdir(d.cache, 0o755)) },
		"of another version": func(d desk) { c := d.open("0"); ask(c, d.file(1)); must.Do(c.Save()) },
		"for everybody":      func(d desk) { must.Do(os.Chmod(d.cache, 0o666)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			must.Do(os.WriteFile(d.file(1), []byte("abc"), 0o644))
			c := d.open("1")
			ask(c, d.file(1))
			must.Do(c.Save())
			if _, had := ask(d.open("1"), d.file(1)); !had {
				t.Fatal("no value before")
			}
			spoil(d)
			c = d.open("1")
			if value, had := ask(c, d.file(1)); had || value != "3" {
				t.Errorf("%s, %v", value, had)
			}
			if err := c.Save(); (err != nil) != (name == "a folder") {
				t.Errorf("saved: %v", err)
			}
		})
	}
}

// TestRace: a value of an earlier state is not one of the file that changed while it was read.
func TestRace(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	must.Do(os.WriteFile(d.file(1), []byte("abc"), 0o644))
	c := d.open("1")
	c.Get(d.file(1))
	must.Do(os.WriteFile(d.file(1), []byte("abcdef"), 0o644))
	c.Set(d.file(1), []byte("3"))
	c.Set(d.file(2), []byte("9")) // was not asked for
	must.Do(c.Save())
	for k := 1; k <= 2; k++ {
		if value, ok := d.open("1").Get(d.file(k)); ok {
			t.Errorf("%d: %s", k, value)
		}
	}
}

// TestLimit: what was not used makes room.
func TestLimit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	half := make([]byte, Limit/2)
	for k := range 3 {
		must.Do(os.WriteFile(d.file(k), []byte("abc"), 0o644))
		c := d.open("1")
		c.Get(d.file(k))
		c.Set(d.file(k), half[:Limit/2-(3-k)*1000])
		must.Do(c.Save())
	}
	c := d.open("1")
	_, last := c.Get(d.file(2))
	_, older := c.Get(d.file(0))
	_, oldest := c.Get(d.file(1))
	if size := must.Get(os.Stat(d.cache)).Size(); !last || older && oldest || size > Limit {
		t.Errorf("%v %v %v, %d bytes", last, older, oldest, size)
	}
}

// TestNone: no cache keeps nothing.
func TestNone(t *testing.T) {
	t.Parallel()
	var c *Cache
	c.Set("a", nil)
	if _, ok := c.Get("a"); ok || c.Save() != nil {
		t.Error("a value")
	}
}

// TestPrivate: nobody else may read a cache, whatever the mode of its file was.
func TestPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("left out: files have no modes there")
	}
	d := newDesk(t)
	must.Do(os.WriteFile(d.file(1), []byte("abc"), 0o644))
	for range 2 {
		c := d.open("1")
		ask(c, d.file(1))
		must.Do(c.Save())
		if mode := must.Get(os.Stat(d.cache)).Mode().Perm(); mode != 0o600 {
			t.Errorf("mode %o", mode)
		}
		must.Do(os.Chmod(d.cache, 0o644))
		must.Do(os.WriteFile(d.file(1), []byte("abcd"), 0o644))
	}
}
