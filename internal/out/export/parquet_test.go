package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/testenv"
)

// kinds has columns of all kinds.
var kinds = &table{name: "kinds", columns: append(slices.Clone(before), []column{
	{name: "key", kind: reflect.String, recurs: true},
	{name: "text", kind: reflect.String},
	{name: "n", kind: reflect.Int64},
	{name: "x", kind: reflect.Float64},
	{name: "is", kind: reflect.Bool},
	{name: "at", kind: reflect.Int64, time: true, optional: true},
	{name: "word", kind: reflect.String, recurs: true, optional: true},
	{name: "maybe_text", kind: reflect.String, optional: true},
	{name: "maybe_n", kind: reflect.Int64, optional: true},
	{name: "maybe_x", kind: reflect.Float64, optional: true},
	{name: "maybe_is", kind: reflect.Bool, optional: true},
}...)}

// columns are those that its files have.
var columns = kinds.columns[len(before):]

// A tableFile is a table of a test.
type tableFile struct {
	name string
	rows [][]any
	data []byte
}

// written writes a file.
func written(t testing.TB, name string, rows [][]any) *tableFile {
	var b bytes.Buffer
	w := newParquetTable(kinds, &b)
	for _, row := range rows {
		if err := w.put(append([]any{"", ""}, row...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	return &tableFile{name, rows, b.Bytes()}
}

// random returns rows whose values may be null with a probability, and have up to some words.
func random(seed uint64, n int, nulls float64, words int) (rows [][]any) {
	r := rand.New(rand.NewPCG(seed, 1))
	maybe := func(v any) any {
		if r.Float64() < nulls {
			return nil
		}
		return v
	}
	word := func() string { return strings.Repeat("w\u00e4\x00", r.IntN(4)) + fmt.Sprint(r.IntN(words)) }
	for range n {
		rows = append(rows, []any{
			word(), word(), r.Int64() - r.Int64(), math.Floor(r.NormFloat64() * 1000), r.IntN(2) == 0, maybe(r.Int64N(4e12)),
			maybe(word()), maybe(word()), maybe(r.Int64N(100)), maybe(float64(r.IntN(100)) / 4), maybe(r.IntN(3) == 0),
		})
	}
	return rows
}

// files are tables that are hard in some way.
func files(t testing.TB) (all []*tableFile) {
	add := func(name string, rows [][]any) { all = append(all, written(t, name, rows)) }
	add("none", nil)
	add("one", random(1, 1, 0, 9))
	add("one-null", random(2, 1, 1, 9))
	for n := range 20 {
		add(fmt.Sprintf("few-%d", n), random(uint64(n), n, 0.5, 3))
	}
	add("null", random(3, 1000, 1, 9))
	add("full", random(4, 1000, 0, 9))
	add("half", random(5, 5000, 0.5, 1000))
	add("one-word", random(6, 3000, 0.1, 1))
	large := random(7, 20, 0.1, 9)
	for i, row := range large {
		row[1], row[7], row[6] = strings.Repeat(fmt.Sprint(i), 1<<20), strings.Repeat("\u20ac", 1<<18), strings.Repeat("x", i<<14)
	}
	add("large", large)
	extremes := random(8, 9, 0, 9)
	for i, n := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 53, 1 << 31, 255, 256} {
		extremes[i][2], extremes[i][8] = n, n
	}
	for i, x := range []float64{0, -0.5, math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, 1e-9, 3, 4} {
		extremes[i][3] = x
	}
	add("extremes", extremes)
	return all
}

// readAll reads a file.
func readAll(data []byte) (rows [][]any, err error) {
	file := parquetFile{kinds, bytes.NewReader(data), int64(len(data))}
	err = file.each(func(row []any) error {
		rows = append(rows, slices.Clone(row))
		return nil
	})
	return rows, err
}

// TestParquet: what was written is read again.
func TestParquet(t *testing.T) {
	t.Parallel()
	for _, f := range append(files(t), written(t, "groups", random(9, 70_000, 0.3, 40_000))) {
		got, err := readAll(f.data)
		if err != nil || len(got) != len(f.rows) {
			t.Errorf("%s: %d rows of %d: %v", f.name, len(got), len(f.rows), err)
			continue
		}
		for i := range got {
			if !reflect.DeepEqual(got[i], f.rows[i]) {
				t.Errorf("%s: row %d is %.300v, want %.300v", f.name, i, got[i], f.rows[i])
				break
			}
		}
	}
}

// TestDamaged: a file that ends early, one of other columns, and one with a wrong byte is an error, or
// has other values: it stops nothing else.
func TestDamaged(t *testing.T) {
	t.Parallel()
	f := written(t, "", random(1, 50, 0.5, 10))
	for size := range f.data {
		if _, err := readAll(f.data[:size]); err == nil {
			t.Errorf("the first %d bytes of %d are a file", size, len(f.data))
		}
	}
	for at := range f.data {
		data := slices.Clone(f.data)
		data[at] ^= byte(1 + at%255)
		if _, err := readAll(data); err != nil && !errors.Is(err, errForeign) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
	other := &table{columns: slices.Clone(kinds.columns)}
	other.columns[4].name = "other"
	for _, other := range []*table{other, {columns: kinds.columns[1:]}} {
		file := parquetFile{other, bytes.NewReader(f.data), int64(len(f.data))}
		if err := file.each(func([]any) error { return nil }); err == nil {
			t.Error("a file of other columns is read")
		}
	}
}

// failing is a writer on a full disk.
type failing int

func (f *failing) Write(p []byte) (int, error) {
	if *f -= failing(len(p)); *f < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}

// TestFull: what cannot be written is an error, at the latest of Close.
func TestFull(t *testing.T) {
	t.Parallel()
	whole := len(written(t, "", random(1, 500, 0.5, 10)).data)
	for size := 0; size < whole; size += 97 {
		full := failing(size)
		w := newParquetTable(kinds, &full)
		for _, row := range random(1, 500, 0.5, 10) {
			if w.put(append([]any{"", ""}, row...)) != nil {
				break
			}
		}
		if w.close() == nil {
			t.Errorf("%d bytes were written on a disk of %d", whole, size)
		}
	}
}

// TestEngines: DuckDB and hyparquet, another reader, read the same values.
func TestEngines(t *testing.T) {
	t.Parallel()
	cache, err := os.UserCacheDir()
	packages := filepath.Join(cache, "ctxtool-duckdb")
	if named := os.Getenv("CTXTOOL_DUCKDB"); named != "" {
		packages = named
	}
	if _, missing := os.Stat(filepath.Join(packages, "node_modules", "hyparquet")); err != nil || missing != nil {
		testenv.Skip(t, "no library of DuckDB to ask; make duckdb installs it")
	}
	dir, all := t.TempDir(), files(t)
	many := written(t, "many", random(9, corpus.Pick(100_000, 1_000_000), 0.3, 50_000))
	for _, f := range append(all, many) {
		if err := os.WriteFile(filepath.Join(dir, f.name+".parquet"), f.data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "--max-old-space-size=4000", "testdata/parquet.mjs", packages, dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var read map[string]map[string][][]*string // by reader and file: values as text
	if err := json.Unmarshal(out, &read); err != nil {
		t.Fatal(err)
	}
	for _, reader := range []string{"duckdb", "hyparquet"} {
		for _, f := range all {
			got := read[reader][f.name]
			if len(got) != len(f.rows) {
				t.Errorf("%s: %s has %d rows, want %d", reader, f.name, len(got), len(f.rows))
				continue
			}
			for i, row := range f.rows {
				if !slices.EqualFunc(got[i], row, func(is *string, want any) bool {
					return is == nil && want == nil || is != nil && want != nil && *is == asText(want)
				}) {
					t.Errorf("%s: %s: row %d is not %.300v", reader, f.name, i, row)
					break
				}
			}
		}
	}
	var sums []string
	for k, c := range columns {
		var has, sum int64
		for _, row := range many.rows {
			if row[k] == nil {
				continue
			}
			has++
			switch v := row[k].(type) {
			case int64:
				sum += v % 1000
			case float64:
				sum += int64(v * 4)
			case bool:
				if v {
					sum++
				}
			case string:
				sum += int64(len(v))
			}
		}
		sums = append(sums, fmt.Sprint(c.name, " ", has, " ", sum))
	}
	for i, sum := range sums {
		if got := read["duckdb"]["many"][0][i]; got == nil || *got != sum {
			t.Errorf("many rows: %s, and DuckDB has %s", sum, *got)
		}
	}
}

// asText returns a value as the script has it.
func asText(v any) string {
	if f, ok := v.(float64); ok {
		return fmt.Sprintf("%016x", math.Float64bits(f))
	}
	return fmt.Sprint(v)
}
