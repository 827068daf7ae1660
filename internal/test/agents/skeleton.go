package agents

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Skeleton writes a recording without the texts of the program, which replays as the recording itself does. In place of
// each line of a longer text stands its hash and its length, in sessions and requests alike, so that texts still join
// and split as they did. What is kept are short texts, as wholes, and lines that a script has, with or without their
// middle, or that have no words. Descriptions and schemas of tools are one hash each.
// The hashes by which sessions record requests are those of what the skeleton has.
func Skeleton(of *Agent, dir, to string, script Script) error {
	k := &skeleton{kept: map[string]bool{"": true}, hashes: map[string]string{}, whole: of.Whole,
		frames: of.Frames}
	k.keep(must.Get(json.Marshal(script)), true)
	for line := range k.kept {
		if len([]rune(line)) > short {
			k.long = append(k.long, line)
		}
	}
	files := map[string][]byte{} // by the name in the skeleton
	for _, home := range homes(dir) {
		for _, name := range append(sessionsIn(home), beside(of, home)...) {
			at, data := contentOf(name)
			files[must.Get(filepath.Rel(dir, at))] = data
			k.keep(data, false)
		}
	}
	requests := ReadRecording(dir)
	k.keep(must.Get(os.ReadFile(filepath.Join(dir, requestsFile))), false)
	for _, q := range requests {
		k.request(q)
	}
	for name, data := range files {
		to := filepath.Join(to, name)
		must.Do(os.MkdirAll(filepath.Dir(to), 0o755))
		must.Do(os.WriteFile(to, k.file(data), 0o644))
	}
	must.Do(os.MkdirAll(to, 0o755))
	if about, err := os.ReadFile(filepath.Join(dir, agentFile)); err == nil {
		must.Do(os.WriteFile(filepath.Join(to, agentFile), about, 0o644))
	}
	return os.WriteFile(filepath.Join(to, requestsFile), packed(requests), 0o644)
}

// contentOf reads a session, or a file beside sessions. One of a database is read as lines, and gets a file of its own
// where the database is.
func contentOf(name string) (at string, data []byte) {
	data, err := os.ReadFile(name)
	if plain, packed := strings.CutSuffix(name, ".zst"); packed && err == nil {
		return plain, must.Get(must.Get(zstd.NewReader(nil)).DecodeAll(data, nil))
	}
	if err == nil {
		return name, data
	}
	s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
	defer s.Close()
	at = filepath.Join(filepath.Dir(filepath.Dir(name)), filepath.Base(name)+".jsonl")
	return at, must.Get(io.ReadAll(s.Plain()))
}

// beside returns the files of a home besides sessions that these are read with.
func beside(of *Agent, home string) (all []string) {
	must.Do(filepath.WalkDir(home, func(name string, d fs.DirEntry, err error) error {
		for _, pattern := range of.Beside {
			if ok, _ := filepath.Match(pattern, filepath.Base(name)); err == nil && ok && !d.IsDir() {
				all = append(all, name)
			}
		}
		return err
	}))
	return all
}

// file takes texts out of a file: of lines, or of a document.
func (k *skeleton) file(data []byte) []byte {
	if v, err := jsonl.ParseValue(data); err == nil && bytes.ContainsRune(bytes.TrimSpace(data), '\n') {
		var b bytes.Buffer
		must.Do(json.Compact(&b, v))
		return k.value(b.Bytes())
	}
	var b bytes.Buffer
	for line := range bytes.Lines(data) {
		b.Write(k.line(bytes.TrimSpace(line)))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// short is how long a text is that is kept, in characters.
const short = 60

type skeleton struct {
	kept   map[string]bool   // lines
	long   []string          // lines of the script that are not short
	hashes map[string]string // of what sessions record, by what they were
	frames []string
	whole  bool
}

// keep keeps the lines of texts: of short ones, or of all.
func (k *skeleton) keep(data []byte, all bool) {
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		for s := range jsonl.Value(line).Strings {
			text := s.Exact()
			if all || len([]rune(text)) <= short {
				for one := range strings.SplitSeq(text, "\n") {
					k.kept[strings.TrimSpace(one)] = true
				}
			} else if inside, ok := inJSON(text); ok {
				k.keep(inside, false)
			}
		}
	}
}

// inJSON returns a text that is an object, or a list of objects.
func inJSON(text string) (jsonl.Value, bool) {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[{") {
		return nil, false
	}
	v, err := jsonl.ParseValue([]byte(text))
	return v, err == nil && (v.IsObject() || v.IsArray())
}

var (
	// marker is a line that replay knows a text by, or that it makes: a tag, and the sections of an output or of an
	// environment.
	marker = regexp.MustCompile(`^(</?[a-z_-]+>|Exit code: \d+|Wall time: [\d.]+ seconds|Total output lines: \d+|` +
		`Chunk ID: \w+|Process exited with code \d+|Original token count: \d+|Output:|` +
		`(Message time|Working directory|Workspace root folder): [/0-9].*)$`)
	// lead is what a text is known by at its beginning: instructions of a project, and questions for a summary, or
	// for what is to be remembered, see qwenAsks.
	lead = regexp.MustCompile(`^(# AGENTS\.md instructions|You are performing a CONTEXT CHECKPOINT|` +
		`Managed memory has|First, reason in your <analysis>) `)
	// cut stands for the middle of a text.
	cut = regexp.MustCompile(`…\d+ (chars|tokens) truncated…|\.\.\.\[truncated \d+ chars\]\.\.\.`)
	// wordless are parts without words; an output may be an object as a text.
	wordless = regexp.MustCompile(`^(\\n|Total output lines: |"(output|metadata|exit_code|duration_seconds)":|\PL)*$`)
)

// tagged is a text in a tag of its own, which has a field.
var tagged = regexp.MustCompile(`(?s)^(<[a-z_]+ [a-z]+="[^"]*">)(.*)(</[a-z_]+>)$`)

// keeps reports whether a line is kept.
func (k *skeleton) keeps(line string) bool {
	if k.kept[line] || marker.MatchString(line) {
		return true
	}
	for _, part := range cut.Split(line, -1) {
		end := func(of string) bool { return strings.HasPrefix(of, part) || strings.HasSuffix(of, part) }
		if !wordless.MatchString(part) && strings.Trim(part, part[:1]) != "" && !slices.ContainsFunc(k.long, end) {
			return false
		}
	}
	return true
}

// whole are members whose value is one hash.
var whole = []string{"input_schema", "inputSchema", "parameters", "parametersJsonSchema", "description"}

// unproved is the digest of messages beside a compaction, which their skeletons do not have.
const unproved = "source_prefix_hash"

// value returns a value without texts.
func (k *skeleton) value(v jsonl.Value) jsonl.Value {
	switch {
	case v.IsString():
		return jsonl.AppendQuoted(nil, k.text(v.Exact()))
	case v.IsArray():
		var all []jsonl.Value
		for e := range v.Elements {
			all = append(all, k.value(e))
		}
		return dialect.List(all...)
	case v.IsObject():
		out := jsonl.Value{'{'}
		for name, val := range v.Members {
			if string(name) == unproved {
				continue
			}
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(append(append(out, '"'), name...), '"'), ':')
			switch {
			case !slices.Contains(whole, string(name)) || val.IsString() && len([]rune(val.Exact())) <= short:
				val = k.value(val)
			case val.IsObject() && k.whole:
				val = k.value(val)
			case val.IsObject():
				hash := hashOf(dialect.AppendCanonical(nil, val, true))
				val = fmt.Appendf(nil, `{"type":"object","title":"%s"}`, hash)
			case val.IsString():
				val = fmt.Appendf(nil, `"%s"`, k.token(val.Exact()))
			}
			out = append(out, val...)
		}
		return append(out, '}')
	}
	return v
}

// text returns a text without what is not kept of it.
func (k *skeleton) text(text string) string {
	if to, ok := k.hashes[text]; ok {
		return to
	}
	if len([]rune(text)) <= short {
		return text
	}
	if inside, ok := inJSON(text); ok {
		return string(k.value(inside))
	}
	if m := tagged.FindStringSubmatch(text); m != nil { // a program may send what is inside alone
		return m[1] + k.text(m[2]) + m[3]
	}
	if mime, data, ok := strings.Cut(text, ";base64,"); ok && strings.HasPrefix(mime, "data:") {
		return mime + ";base64," + k.token(data) // files have the data alone
	}
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		inside := strings.TrimSpace(line)
		if own := k.unframed(inside); !k.keeps(inside) && !k.keeps(own) {
			known := lead.FindString(own)
			lines[n] = strings.Replace(line, own, known+k.token(own[len(known):]), 1)
		}
	}
	return strings.Join(lines, "\n")
}

// unframed returns a line without what the agent puts before and after a text.
func (k *skeleton) unframed(line string) string {
	for _, frame := range k.frames {
		line = strings.TrimSuffix(strings.TrimPrefix(line, frame), frame)
	}
	return line
}

// token stands for a text. It is as long as it, where requests depend on that.
func (k *skeleton) token(text string) string {
	n := len([]rune(text))
	is := fmt.Sprintf("{%.8s:%d}", hashOf([]byte(text)), n)
	if k.whole {
		is += strings.Repeat(".", max(0, n-len(is)))
	}
	return is
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// request takes texts out of a request, and remembers what its hashes become.
func (k *skeleton) request(q *Request) {
	was := unattributed(jsonl.Value(q.Body))
	now := k.value(was)
	q.Body = json.RawMessage(now)
	pair := func(of func(v jsonl.Value) []byte) { k.hashes[hashOf(of(was))] = hashOf(of(now)) }
	for n, text := range q.Said {
		q.Said[n] = k.text(text)
	}
	n := 0
	for range was.Get("messages").Elements {
		pair(func(v jsonl.Value) []byte { return messageText(nth(v.Get("messages"), n)) })
		n++
	}
	pair(func(v jsonl.Value) []byte { return requestText(v, q.Beta) })
}

func nth(list jsonl.Value, n int) (at jsonl.Value) {
	for e := range list.Elements {
		if n == 0 {
			return e
		}
		n--
	}
	return nil
}

// line takes texts out of a line of a session, after what its own hashes become is known.
func (k *skeleton) line(line jsonl.Value) []byte {
	switch typ := line.Get("type"); {
	case typ.Is("api-request-shape"):
		shape := line.Get("shape")
		text := func(v jsonl.Value) []byte { return dialect.AppendCanonical(nil, v, false) }
		k.hashes[hashOf(text(shape))] = hashOf(text(k.value(shape)))
	case typ.Is("api-request-blob"):
		m := line.Get("message")
		k.hashes[hashOf(messageText(m))] = hashOf(messageText(k.value(m)))
	}
	return k.value(line)
}

// messageText returns what the hash of a message is of: canonical, without marks, a text as one block.
func messageText(m jsonl.Value) []byte { return dialect.AppendCanonical(nil, inBlocks(m), false) }

// unhashed are the members of a body that its digest leaves out.
var unhashed = []string{"metadata", "stream", "thread", "diagnostics", "safeguards"}

// requestText returns what the digest of a request is of: with the features that it asks for.
func requestText(b jsonl.Value, beta string) []byte {
	var fields []jsonl.Field
	for name, v := range b.Members {
		if slices.Contains(unhashed, string(name)) {
			continue
		}
		if string(name) == "messages" {
			var all []jsonl.Value
			for m := range v.Elements {
				all = append(all, inBlocks(m))
			}
			v = dialect.List(all...)
		}
		fields = append(fields, jsonl.Field{Name: string(name), Value: dialect.AppendCanonical(nil, v, true)})
	}
	if beta != "" {
		list := must.Get(json.Marshal(strings.Split(beta, ",")))
		fields = append(fields, jsonl.Field{Name: "betas", Value: dialect.AppendCanonical(nil, list, true)})
	}
	dialect.SortFields(fields)
	return dialect.AppendSorted(nil, fields)
}

// inBlocks returns a message whose content is blocks.
func inBlocks(m jsonl.Value) jsonl.Value {
	if content := m.Get("content"); content.IsString() {
		blocks := dialect.List(dialect.CanonicalParts(content)...)
		return m.AppendEdited(nil, jsonl.Field{Name: "content", Value: blocks})
	}
	return m
}

// unattributed returns a body without the block that says which program asks, which no record has.
func unattributed(b jsonl.Value) jsonl.Value {
	system := b.Get("system")
	if !strings.HasPrefix(nth(system, 0).Get("text").Text(), attribution) {
		return b
	}
	all := slices.Collect(system.Elements)
	return b.AppendEdited(nil, jsonl.Field{Name: "system", Value: dialect.List(all[1:]...)})
}

// attribution begins the block of the system prompt that says which program asks.
const attribution = "x-anthropic-billing-header"
