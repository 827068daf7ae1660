package check

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestSeverities: names of severities, the highest of a list, and what lists and totals say of them.
func TestSeverities(t *testing.T) {
	for _, s := range []Severity{Info, Warning, Error} {
		var back Severity
		if must.Do(back.UnmarshalText(must.Get(s.MarshalText()))); back != s {
			t.Errorf("%v is read as %v", s, back)
		}
	}
	if s, err := ParseSeverity("bad\x1b"); err == nil || s != 0 || !strings.Contains(err.Error(), `"bad`) || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%v %v", s, err)
	}
	coded := func(severity Severity) string {
		for _, c := range All() {
			if c.Severity == severity {
				return c.Code
			}
		}
		return ""
	}
	for _, c := range []struct {
		codes []string
		want  Severity
	}{
		{nil, Info}, {[]string{coded(Info)}, Info}, {[]string{coded(Info), coded(Warning), coded(Info)}, Warning}, {[]string{coded(Error), coded(Warning)}, Error}, {[]string{"no check"}, Error},
	} {
		var found []sessionfmt.Finding
		for _, code := range c.codes {
			found = append(found, sessionfmt.Finding{Code: code})
		}
		if got := Gravest(found); got != c.want {
			t.Errorf("%q: %v, want %v", c.codes, got, c.want)
		}
	}
	report := func(v Verdict, severities ...Severity) *Report {
		r := &Report{Verdict: v}
		for _, s := range severities {
			r.Findings = append(r.Findings, Finding{Code: "c", Severity: s})
		}
		return r
	}
	all := Together([]*Report{report(Sound), report(Usable, Warning, Info), report(Damaged, Error, Error, Warning), report(Unread)})
	if want := (Totals{Files: 4, Sound: 1, Usable: 1, Damaged: 1, Unread: 1, Errors: 2, Warnings: 2, Infos: 1}); all.Totals != want {
		t.Errorf("%+v, want %+v", all.Totals, want)
	}
	if worst, any := all.Files[1].Worst(); worst != Warning || !any {
		t.Errorf("worst %v, %v", worst, any)
	}
	if _, any := all.Files[0].Worst(); any {
		t.Error("a report without findings has a worst one")
	}
	all.List(Warning)
	if len(all.Files[1].Findings) != 1 || len(all.Files[2].Findings) != 3 || all.Totals.Infos != 1 {
		t.Errorf("%+v", all.Files[1].Findings)
	}
	harms := Harms()
	for _, c := range All() {
		if want := c.mend != 0 || c.Code == "bridged" || c.Code == "leaf-moved" || c.Code == "kept-unknown" || c.Code == "no-checkpoint" || c.Severity == Error && c.fix != nothing; harms[c.Code] != want {
			t.Errorf("%s: harms %v", c.Code, harms[c.Code])
		}
	}
}

// TestHasType: values and the types of a schema, each of which only its own values have.
func TestHasType(t *testing.T) {
	values := map[string]string{"string": `"x"`, "object": `{}`, "array": `[]`, "number": `1.5`, "integer": `-7`, "boolean": `true`, "null": `null`}
	for name := range values {
		for of, value := range values {
			want := name == of || name == "number" && of == "integer"
			if got := hasType(jsonl.AppendQuoted(nil, name), jsonl.Value(value)); got != want {
				t.Errorf("%s is a %s: %v", value, name, got)
			}
		}
	}
	for _, c := range []struct {
		want, value string
		is          bool
	}{{`["string","null"]`, `null`, true}, {`["string","null"]`, `1`, false}, {`"integer"`, `1e3`, false}, {`"integer"`, `1E3`, false}, {`"boolean"`, `false`, true}, {`"new"`, `1`, false}, {`[]`, `1`, false}} {
		if got := hasType(jsonl.Value(c.want), jsonl.Value(c.value)); got != c.is {
			t.Errorf("%s is a %s: %v", c.value, c.want, got)
		}
	}
}

// TestPictures reads the kind and the size of images from their first bytes.
func TestPictures(t *testing.T) {
	segment := func(marker byte, length int) string {
		return "\xff" + string([]byte{marker, byte(length >> 8), byte(length)}) + strings.Repeat("x", length-2)
	}
	frame := func(marker string) string {
		return "\xff" + marker + "\x00\x11\x08\x01\x02\x03\x04" + strings.Repeat("x", 20)
	}
	for _, c := range []struct{ name, raw, want string }{
		{"PNG", "\x89PNG\r\n\x1a\n" + "\x00\x00\x00\rIHDR" + "\x00\x00\x01\x00\x00\x00\x02\x03", "image/png 256 515"}, {"PNG without a size", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x02", " 0 0"},
		{"GIF", "GIF89a\x01\x02\x03\x04", "image/gif 513 1027"}, {"WebP", "RIFFxxxxWEBP", "image/webp 0 0"}, {"WAVE", "RIFFxxxxWAVE", " 0 0"}, {"text", "hello world!", " 0 0"},
		{"JPEG", "\xff\xd8" + segment(0xe0, 16) + frame("\xc0"), "image/jpeg 772 258"}, {"progressive JPEG", "\xff\xd8" + segment(0xe1, 300) + segment(0xc4, 20) + frame("\xc2"), "image/jpeg 772 258"},
		{"JPEG with other tables", "\xff\xd8" + segment(0xc8, 20) + segment(0xcc, 20) + frame("\xcf"), "image/jpeg 772 258"}, {"JPEG without a frame", "\xff\xd8" + segment(0xe0, 16), "image/jpeg 0 0"},
		{"JPEG, broken", "\xff\xd8" + segment(0xe0, 16) + "no" + frame("\xc0"), "image/jpeg 0 0"},
	} {
		data := []byte(base64.StdEncoding.EncodeToString([]byte(c.raw)))
		p := pictureOf(data, "image/x")
		if got := fmt.Sprint(p.is, " ", p.wide, " ", p.high); got != c.want || p.size != int64(len(data)) || p.mime != "image/x" {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for text, want := range map[string]bool{
		`"x"`: false, `"\ud83d"`: true, `"\ud83d\ude00"`: false, `"\ude00"`: true, `"\ud83dx\ude00"`: true, `"\ud83d\u0041"`: true, `"\\ud83d"`: false, `"\ud83d\ude00\ud83d"`: true, `"\u0041\ud7ff\ue000"`: false, `"\udbff\udfff"`: false,
	} {
		if got := loneSurrogate(jsonl.Value(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestCoverageOf counts fields that nothing reads, with where they stand first: new ones before known ones, and what
// takes most room before others.
func TestCoverageOf(t *testing.T) {
	text := `{"type":"session","version":3,"id":"s","small":1}` + "\n" + `not JSON` + "\n" +
		`{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"x","large":"0123456789","small":[1,2]}}` + "\n" +
		`{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"x","large":"0123456789"}}` + "\n"
	var all Coverage
	for _, file := range []string{"one", "two"} {
		must.Do(all.Add(must.Get(sessionfmt.OpenReader("s", strings.NewReader(text), sessionfmt.Options{})), file))
	}
	if !all.New() || all.Files != 2 || all.Bytes != 2*int64(len(text)-len("not JSON\n")-3) {
		t.Errorf("%+v of %d", all, len(text))
	}
	var got []string
	for _, f := range all.Sorted().Fields {
		got = append(got, fmt.Sprintf("%s %d times, %d bytes, first %s:%d %t", f.Path, f.Count, f.Bytes, f.File, f.Line, f.Known))
	}
	want := "<message>.message<user>.large 4 times, 48 bytes, first one:3 false\n<message>.message<user>.small 2 times, 10 bytes, first one:3 false\n<session>.small 2 times, 2 bytes, first one:1 false"
	if strings.Join(got, "\n") != want || all.Schema != "ctxtool/coverage/1" {
		t.Errorf("%s, want\n%s", strings.Join(got, "\n"), want)
	}
	if (&Coverage{Fields: []Field{{Known: true}}}).New() {
		t.Error("a known field is new")
	}
}
