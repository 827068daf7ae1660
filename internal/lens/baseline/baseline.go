// Package baseline reads what a session file may not record from other files.
package baseline

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/lens/redact"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

var errNoBaseline = errors.New("no prompt or tools: expected an envelope in JSON, a session with system messages, " +
	"the text of /context --full, or an HTML export")

// Load reads a baseline from a file: an envelope in JSON, whose messages are ignored; the text
// of /context --full; pi's HTML export; or another session, of which it takes prompt and tools
// at the leaf.
func Load(disk sessionfmt.Disk, name string) (*prompt.Baseline, error) {
	b, err := load(disk, name)
	var at *sessionfmt.Error
	if err != nil && !errors.As(err, &at) {
		err = &sessionfmt.Error{Pos: sessionfmt.Pos{File: name}, Err: err}
	}
	return b, err
}

func load(disk sessionfmt.Disk, name string) (*prompt.Baseline, error) {
	f, err := disk.Open(name)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	head = head[:n]
	rest := io.MultiReader(bytes.NewReader(head), f)
	switch text := jsonl.TrimJS(string(head)); {
	case strings.HasPrefix(text, "# Context Envelope"):
		data, err := io.ReadAll(rest)
		if err != nil {
			return nil, err
		}
		return baselineFromFull(string(data))
	case strings.HasPrefix(text, "<"):
		data, err := io.ReadAll(rest)
		if err != nil {
			return nil, err
		}
		return baselineFromHTML(name, data)
	case strings.HasPrefix(text, "{") && !startsSession(text):
		data, err := io.ReadAll(rest)
		if err != nil {
			return nil, err
		}
		if v, err := jsonl.ParseValue(data); err == nil {
			return baselineFromEnvelope(v)
		}
	}
	s, err := sessionfmt.Open(name, sessionfmt.Options{Disk: disk})
	if err != nil {
		return nil, errNoBaseline
	}
	defer s.Close()
	return baselineFromSession(s)
}

// startsSession reports whether the first line is a record of a session. An envelope has no
// type.
func startsSession(text string) bool {
	line, _, _ := strings.Cut(text, "\n")
	v, err := jsonl.ParseValue([]byte(line))
	return err == nil && v.Get("type").IsString()
}

// baselineFromEnvelope reads an envelope in the JSON that we print.
func baselineFromEnvelope(v jsonl.Value) (*prompt.Baseline, error) {
	var f [4]jsonl.Value
	v.Fields(f[:], "system", "tools", "options", "meta")
	if !f[0].IsObject() && !f[1].IsArray() {
		return nil, errNoBaseline
	}
	b := &prompt.Baseline{}
	for p := range f[0].Get("parts").Elements {
		b.Parts = append(b.Parts, prompt.NewPart(p.Get("name").Exact(), p.Get("text").Exact(), origin.Baseline))
	}
	for t := range f[1].Elements {
		b.Tools = append(b.Tools, prompt.NewTool(bytes.Clone(t), origin.Baseline))
	}
	b.Options = readOptions(f[2])
	model := f[3].Get("model")
	b.Model = models.Ref{Provider: model.Get("provider").Text(), ID: model.Get("id").Text()}
	b.Limit = f[3].Get("limit").Int()
	return b, nil
}

// readOptions returns the options that are set.
func readOptions(v jsonl.Value) (o prompt.Options) {
	var f [3]jsonl.Value
	v.Fields(f[:], "reasoning", "temperature", "maxTokens")
	for i, to := range []*jsonl.Value{&o.Reasoning, &o.Temperature, &o.MaxTokens} {
		if !f[i].IsNull() {
			*to = bytes.Clone(f[i])
		}
	}
	return o
}

// baselineFromSession returns prompt and tools at a session's leaf.
func baselineFromSession(s *sessionfmt.Session) (*prompt.Baseline, error) {
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return nil, err
	}
	p, err := e.Prompt()
	if err != nil {
		return nil, err
	}
	if !p.Known && len(p.Parts) == 0 && len(p.Tools) == 0 {
		return nil, errNoBaseline
	}
	b := &prompt.Baseline{Parts: p.Parts, Tools: p.Tools}
	for i := range b.Parts {
		b.Parts[i].Origin = origin.Baseline
	}
	for i := range b.Tools {
		b.Tools[i].Origin = origin.Baseline
	}
	return b, nil
}

// baselineFromHTML returns the prompt and tools embedded in pi's HTML export, or else those of
// the session in it.
func baselineFromHTML(name string, page []byte) (*prompt.Baseline, error) {
	_, after, ok := bytes.Cut(page, []byte(`id="session-data"`))
	if ok {
		_, after, ok = bytes.Cut(after, []byte(">"))
	}
	if !ok {
		return nil, errors.New("not an export of a session: the HTML page has no session-data")
	}
	encoded, _, _ := bytes.Cut(after, []byte("<"))
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(encoded)))
	if err != nil {
		return nil, fmt.Errorf("the session-data of the HTML export: %w", err)
	}
	v, err := jsonl.ParseValue(data)
	if err != nil {
		return nil, fmt.Errorf("the session-data of the HTML export: %w", err)
	}
	b := &prompt.Baseline{}
	if text := v.Get("systemPrompt").Text(); text != "" {
		b.Parts = []prompt.Part{{Name: "base", Text: text, Origin: origin.Baseline}}
	}
	for t := range v.Get("tools").Elements {
		b.Tools = append(b.Tools, prompt.NewTool(bytes.Clone(t), origin.Baseline))
	}
	if len(b.Parts)+len(b.Tools) > 0 {
		return b, nil
	}
	var lines bytes.Buffer
	lines.Write(v.Get("header").AppendMinified(nil))
	for e := range v.Get("entries").Elements {
		lines.WriteByte('\n')
		lines.Write(e)
	}
	lines.WriteByte('\n')
	s, err := sessionfmt.OpenReader(name, &lines, sessionfmt.Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return baselineFromSession(s)
}

// baselineFromFull reads the text of /context --full (docs/figures.md). The format
// has no parameters of tools, and a part that contains a fence is ambiguous.
func baselineFromFull(text string) (*prompt.Baseline, error) {
	b := &prompt.Baseline{}
	section, part := "", ""
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, "## "):
			section = line[3:]
		case section == "Meta" && strings.HasPrefix(line, "- model: "):
			b.Model.Provider, b.Model.ID, _ = strings.Cut(line[len("- model: "):], "/")
		case section == "Meta" && strings.HasPrefix(line, "- context window: "):
			b.Limit, _ = strconv.ParseInt(line[len("- context window: "):], 10, 64)
		case section == "Options" && line == "```json", section == "System (parts)" && line == "```text":
			body, next := fenced(lines, i+1)
			i = next
			if section == "Options" {
				v, err := jsonl.ParseValue([]byte(body))
				if err != nil {
					return nil, fmt.Errorf("options: %w", err)
				}
				b.Options = readOptions(v)
			} else {
				b.Parts = append(b.Parts, prompt.NewPart(part, body, origin.Baseline))
			}
		case section == "System (parts)" && strings.HasPrefix(line, "### "):
			part = line[4:]
		case section == "Tools" && strings.HasPrefix(line, "- **"):
			if name, about, ok := strings.Cut(line[4:], "**: "); ok {
				for i+1 < len(lines) && !strings.HasPrefix(lines[i+1], "- **") &&
					!strings.HasPrefix(lines[i+1], "## ") {
					i++
					about += "\n" + lines[i]
				}
				raw := jsonl.AppendQuoted([]byte(`{"name":`), name)
				raw = jsonl.AppendQuoted(append(raw, `,"description":`...), strings.TrimRight(about, "\n"))
				b.Tools = append(b.Tools, prompt.NewTool(append(raw, '}'), origin.Baseline))
			}
		}
	}
	if len(b.Parts)+len(b.Tools) == 0 {
		return nil, errNoBaseline
	}
	return b, nil
}

// fenced returns the text up to the closing fence, which an empty line follows.
func fenced(lines []string, from int) (body string, end int) {
	for end = from; end < len(lines); end++ {
		if lines[end] == "```" && (end+1 >= len(lines) || lines[end+1] == "") {
			break
		}
	}
	return strings.Join(lines[from:min(end, len(lines))], "\n"), end
}

// Redact redacts a baseline in place.
func Redact(b *prompt.Baseline, r *redact.Redactor) error {
	x := r.NewRun()
	defer x.Close()
	for k := range b.Parts {
		b.Parts[k].Text = x.Text(b.Parts[k].Text)
	}
	for k := range b.Tools {
		line, err := x.Definition(b.Tools[k].Raw)
		if err != nil {
			return err
		}
		b.Tools[k].Raw = slices.Clone(line)
		b.Tools[k].Name = cmp.Or(b.Tools[k].Raw.Get("name").Text(), b.Tools[k].Name)
	}
	return nil
}
