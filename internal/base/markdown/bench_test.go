package markdown_test

import (
	"bytes"
	"html"
	"io"
	"testing"

	"ctxtool/internal/base/markdown"
)

const prose = "The scanner reads a line at a time and keeps what it needs; nothing else is in memory. " +
	"If the parent of an entry is missing, the entry before it takes its place, and a finding says so. " +
	"That is slower than it could be, but it is simple, and simple things are easy to fix later on.\n"

const talk = "I ran `go test ./...` and **two** tests failed:\n\n1. `TestLeaf` in replay/walk_test.go:120\n2. TestPath, see #12 and https://example.org/x?y=1\n\n" +
	"```go\nfunc main() {\n\tprintln(\"x\")\n}\n```\nThe cause is snake_case_names in <Config>; commit 1bdd77a broke it (thanks @octocat).\n\n" + prose

func BenchmarkMarkdown(b *testing.B) {
	for _, text := range []struct{ name, unit string }{{"prose", prose}, {"talk", talk}, {"cjk", "日本語のテキストは空白なしで続きます。"}, {"code", "\tif err != nil {\n\t\treturn fmt.Errorf(\"%w\", err)\n\t}\n"}} {
		data := bytes.Repeat([]byte(text.unit), 1<<18/len(text.unit))
		dst := make([]byte, 0, 4*len(data))
		for _, f := range []struct {
			name string
			call func()
		}{
			{"inline", func() { dst = markdown.AppendInline(dst[:0], data) }},
			{"text", func() { dst = markdown.AppendText(dst[:0], data) }},
			{"fence", func() { dst = markdown.AppendFence(dst[:0], "go", data) }},
			{"html", func() { dst = markdown.AppendHTML(dst[:0], data) }},
			{"code", func() { dst = markdown.AppendCode(dst[:0], data) }},
			{"judge: html.EscapeString", func() { html.EscapeString(string(data)) }},
			{"judge: goldmark", func() { gfm().Convert(data, io.Discard) }},
		} {
			b.Run(text.name+"/"+f.name, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					f.call()
				}
			})
		}
	}
}
