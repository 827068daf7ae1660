package replay

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Baseline is what a session file may lack: the prompt, tools and options that
// the agent itself came with.
type Baseline struct {
	Parts   []Part
	Tools   []Tool
	Options ModelOptions
	Model   ModelRef
	Limit   int64 // context window in tokens, 0 where it is not stated
}

// baselineOrigin marks what comes from a baseline.
var baselineOrigin = Origin{Record: -1, By: -1, Op: -1}

var errNoBaseline = errors.New("no prompt or tools in it: neither an envelope in JSON, nor a session with system messages, nor /context --full text, nor an HTML export")

// LoadBaseline reads a baseline from a file: an envelope in JSON, whose messages
// are ignored; the text of /context --full; an HTML export of pi; or another
// session, whose prompt and tools at its leaf are taken.
func LoadBaseline(disk sessionfmt.Disk, name string) (*Baseline, error) {
	b, err := loadBaseline(disk, name)
	var at *sessionfmt.Error
	if err != nil && !errors.As(err, &at) {
		err = &sessionfmt.Error{Pos: sessionfmt.Pos{File: name}, Err: err}
	}
	return b, err
}

func loadBaseline(disk sessionfmt.Disk, name string) (*Baseline, error) {
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

// startsSession reports whether the first line is a record of a session: an
// envelope has no type.
func startsSession(text string) bool {
	line, _, _ := strings.Cut(text, "\n")
	v, err := jsonl.ParseValue([]byte(line))
	return err == nil && v.Get("type").IsString()
}

// baselineFromEnvelope reads the JSON of an envelope: the shape that we print.
func baselineFromEnvelope(v value) (*Baseline, error) {
	var f [4]value
	v.Fields(f[:], "system", "tools", "options", "meta")
	if !f[0].IsObject() && !f[1].IsArray() {
		return nil, errNoBaseline
	}
	b := &Baseline{}
	for p := range f[0].Get("parts").Elements {
		b.Parts = append(b.Parts, newPart(p.Get("name").Text(), p.Get("text").Text(), baselineOrigin))
	}
	for t := range f[1].Elements {
		b.Tools = append(b.Tools, newTool(bytes.Clone(t), baselineOrigin))
	}
	b.Options = readOptions(f[2])
	model := f[3].Get("model")
	b.Model = ModelRef{model.Get("provider").Text(), model.Get("id").Text()}
	b.Limit = f[3].Get("limit").Int()
	return b, nil
}

// readOptions takes what is set of the options.
func readOptions(v value) (o ModelOptions) {
	var f [3]value
	v.Fields(f[:], "reasoning", "temperature", "maxTokens")
	for i, to := range []*value{&o.Reasoning, &o.Temperature, &o.MaxTokens} {
		if !f[i].IsNull() {
			*to = bytes.Clone(f[i])
		}
	}
	return o
}

// baselineFromSession takes prompt and tools of a session at its leaf.
func baselineFromSession(s *sessionfmt.Session) (*Baseline, error) {
	e, err := New(s, Options{Leaf: s.Leaf()}).At(s.Leaf(), false)
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
	b := &Baseline{Parts: p.Parts, Tools: p.Tools}
	for i := range b.Parts {
		b.Parts[i].Origin = baselineOrigin
	}
	for i := range b.Tools {
		b.Tools[i].Origin = baselineOrigin
	}
	return b, nil
}

// baselineFromHTML takes the prompt and tools that pi's HTML export embeds, or
// those of the session in it where it embeds none.
func baselineFromHTML(name string, page []byte) (*Baseline, error) {
	_, after, ok := bytes.Cut(page, []byte(`id="session-data"`))
	if ok {
		_, after, ok = bytes.Cut(after, []byte(">"))
	}
	if !ok {
		return nil, errors.New("an HTML page, but no export of a session: it has no session-data")
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
	b := &Baseline{}
	if text := v.Get("systemPrompt").Text(); text != "" {
		b.Parts = []Part{{Name: "base", Text: text, Origin: baselineOrigin}}
	}
	for t := range v.Get("tools").Elements {
		b.Tools = append(b.Tools, newTool(bytes.Clone(t), baselineOrigin))
	}
	if len(b.Parts)+len(b.Tools) > 0 {
		return b, nil
	}
	var lines bytes.Buffer
	lines.Write(v.Get("header").AppendCompact(nil))
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

// baselineFromFull reads the text of /context --full (docs/session-format.md 8.6). It
// has no parameters of tools, and a part that holds a fence of its own cannot be
// told from two; that is the format's limit.
func baselineFromFull(text string) (*Baseline, error) {
	b := &Baseline{}
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
			if i = next; section == "Options" {
				v, err := jsonl.ParseValue([]byte(body))
				if err != nil {
					return nil, fmt.Errorf("options: %w", err)
				}
				b.Options = readOptions(v)
			} else {
				b.Parts = append(b.Parts, newPart(part, body, baselineOrigin))
			}
		case section == "System (parts)" && strings.HasPrefix(line, "### "):
			part = line[4:]
		case section == "Tools" && strings.HasPrefix(line, "- **"):
			if name, about, ok := strings.Cut(line[4:], "**: "); ok {
				for i+1 < len(lines) && !strings.HasPrefix(lines[i+1], "- **") && !strings.HasPrefix(lines[i+1], "## ") {
					i++
					about += "\n" + lines[i]
				}
				raw := jsonl.AppendQuoted([]byte(`{"name":`), name)
				raw = jsonl.AppendQuoted(append(raw, `,"description":`...), strings.TrimRight(about, "\n"))
				b.Tools = append(b.Tools, newTool(append(raw, '}'), baselineOrigin))
			}
		}
	}
	if len(b.Parts)+len(b.Tools) == 0 {
		return nil, errNoBaseline
	}
	return b, nil
}

// fenced is the text up to the fence that closes it: the next one that an empty
// line follows.
func fenced(lines []string, from int) (body string, end int) {
	for end = from; end < len(lines); end++ {
		if lines[end] == "```" && (end+1 >= len(lines) || lines[end+1] == "") {
			break
		}
	}
	return strings.Join(lines[from:min(end, len(lines))], "\n"), end
}
