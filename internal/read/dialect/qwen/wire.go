package qwen

import (
	"fmt"
	"regexp"
	"strings"

	"ctxtool/internal/base/lazy"
	"ctxtool/sessionfmt/jsonl"
)

// A wire is what the program knows of a model by its name.
type wire struct {
	image, video, pdf, audio bool // media that it takes
	mirrored                 bool // thoughts stand in an answer twice
	flat                     bool // a content is one text, and each answer has thoughts, though they may be empty
}

// wires are the names of models that take media, the first that matches wins. Other models take none.
var wires = []struct {
	name  func() *regexp.Regexp
	takes wire
}{
	{lazy.Regexp(`^gemini-|^qwen\d*\.?\d*-omni|^qwen-omni`),
		wire{image: true, video: true, pdf: true, audio: true}},
	{lazy.Regexp(`^claude-`), wire{image: true, pdf: true}},
	{lazy.Regexp(`^gpt-|^o\d|^qwen3\.8-max|^deepseek-.*vision|^glm-[0-9.]+v|^glm-5\.3-flash`),
		wire{image: true}},
	{lazy.Regexp(`^qwen3\.[5678]-plus|^qwen3\.8-flash|^coder-model$|^qwen3?-vl-|^qwen3\.6-35b|^minimax-m3|` +
		`^kimi-k3|^kimi-k2\.`), wire{image: true, video: true}},
	{lazy.Regexp(`^doubao-seed(ance|ream)`), wire{}},
	{lazy.Regexp(`^doubao-seed|^doubao-.*(vision|vl)`), wire{image: true}},
}

// wireOf returns what the program knows of a model, where no setting says otherwise.
func wireOf(model string) (w wire) {
	model = strings.ToLower(model)
	bare := model[strings.LastIndexByte(model, '/')+1:]
	for _, of := range wires {
		if of.name().MatchString(bare) {
			w = of.takes
			break
		}
	}
	w.mirrored, w.flat = strings.Contains(model, "qwen3"), strings.Contains(model, "deepseek")
	return w
}

// part returns a part of a message as it is sent: a text as it stands, and media by what the model takes.
func (w wire) part(p jsonl.Value) jsonl.Value {
	from := p.Get("inlineData")
	f := from.All("mimeType", "data", "displayName")
	if !from.IsObject() {
		return p
	}
	mime := f[0].Text()
	name := f[2]
	if !name.Exists() {
		name = f[0]
	}
	url := jsonl.AppendQuoted(nil, "data:"+mime+";base64,"+f[1].Text())
	kind, _, _ := strings.Cut(mime, "/")
	switch {
	case kind == "image" && w.image:
		return medium("image_url", "url", url, "", nil)
	case kind == "video" && w.video:
		return medium("video_url", "url", url, "", nil)
	case mime == "application/pdf" && w.pdf:
		return medium("file", "filename", name, "file_data", url)
	case kind == "audio" && w.audio && audioForm(mime) != "":
		return medium("input_audio", "data", url, "format", jsonl.AppendQuoted(nil, audioForm(mime)))
	case mime == "application/pdf":
		return text(`[Unsupported pdf file: "` + name.Text() + `". This model does not support PDF input directly. ` +
			"The read_file tool cannot extract PDF content either. To extract text from the PDF file, try using skills " +
			"if applicable, or guide user to install pdf skill by running this slash command:\n/extensions install " +
			"https://github.com/anthropics/skills:document-skills]")
	case kind == "image" || kind == "video" || kind == "audio" && (!w.audio || audioForm(mime) != ""):
		return text(fmt.Sprintf(`[Unsupported %s file: "%s". This model does not support %[1]s input. The `+
			"read_file tool cannot process this type of file either. To handle this file, try using skills if "+
			"applicable, or any tools installed at system wide, or let the user know you cannot process this type of "+
			"file.]", kind, name.Text()))
	}
	return text(fmt.Sprintf("Unsupported inline media type: %s (%s).", mime, name.Text()))
}

func text(of string) jsonl.Value {
	return jsonl.Value(`{"type":"text"}`).With("text", jsonl.AppendQuoted(nil, of))
}

func medium(kind, first string, of jsonl.Value, second string, more jsonl.Value) jsonl.Value {
	inner := jsonl.Value("{}").With(first, of)
	if second != "" {
		inner = inner.With(second, more)
	}
	return jsonl.Value("{}").With("type", jsonl.AppendQuoted(nil, kind)).With(kind, inner)
}

// audioForm returns the form of a recording, empty for one that is not sent.
func audioForm(mime string) string {
	for _, of := range [][2]string{{"wav", "wav"}, {"mp3", "mp3"}, {"mpeg", "mp3"}, {"flac", "flac"}, {"ogg", "ogg"},
		{"audio/mp4", "m4a"}, {"m4a", "m4a"}} {
		if strings.Contains(mime, of[0]) {
			return of[1]
		}
	}
	return ""
}

// message returns a message as the model gets it.
func (w wire) message(m jsonl.Value) jsonl.Value {
	f := m.All("role", "content", "reasoning_content")
	if w.flat && f[1].IsArray() && !w.image {
		m = m.AppendEdited(nil, jsonl.Field{Name: "content", Value: flattened(f[1])})
	}
	switch {
	case !f[0].Is("assistant"):
	case w.flat && !f[2].IsString():
		m = m.AppendEdited(nil, jsonl.Field{Name: "reasoning_content", Value: jsonl.Value(`""`)})
	case w.mirrored && f[2].IsString():
		m = m.AppendEdited(nil, jsonl.Field{Name: "reasoning", Value: f[2]})
	}
	return m
}

// flattened returns a content as one text.
func flattened(content jsonl.Value) jsonl.Value {
	var all []string
	for p := range content.Elements {
		if t := p.Get("text"); t.IsString() {
			all = append(all, t.Exact())
		} else {
			all = append(all, fmt.Sprintf("[Unsupported content type: %s]", p.Get("type").Text()))
		}
	}
	return jsonl.AppendQuoted(nil, strings.Join(all, "\n\n"))
}
