package agents

import (
	"archive/tar"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ctxtool/internal/test/must"
)

// Pack writes a folder of skeletons to one file. Equal skeletons give equal files.
func Pack(dir, name string) {
	must.Do(os.MkdirAll(filepath.Dir(name), 0o755))
	f := must.Get(os.Create(name))
	defer f.Close()
	z := must.Get(zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(1<<23)))
	w := tar.NewWriter(z)
	must.Do(filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data := must.Get(os.ReadFile(file))
		at := filepath.ToSlash(must.Get(filepath.Rel(dir, file)))
		must.Do(w.WriteHeader(&tar.Header{Name: at, Mode: 0o644, Size: int64(len(data))}))
		_, err = w.Write(data)
		return err
	}))
	must.Do(w.Close())
	must.Do(z.Close())
}

// Unpack writes the skeletons of a file to a folder, and returns the folder of each recording.
func Unpack(t testing.TB, name string) (recordings []string) {
	t.Helper()
	f := must.Get(os.Open(name))
	defer f.Close()
	z := must.Get(zstd.NewReader(f))
	defer z.Close()
	dir := t.TempDir()
	r := tar.NewReader(z)
	for h, err := r.Next(); err == nil; h, err = r.Next() {
		to := filepath.Join(dir, filepath.FromSlash(h.Name))
		must.Do(os.MkdirAll(filepath.Dir(to), 0o755))
		file := must.Get(os.Create(to))
		must.Get(file.ReadFrom(r))
		must.Do(file.Close())
	}
	return must.Get(filepath.Glob(filepath.Join(dir, "*")))
}
