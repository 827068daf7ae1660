package check

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
)

// An outgoing is a request as rules see it. Its texts are not kept.
type outgoing struct {
	messages []sent
	provider string // that gets it, empty for none
	agent    string // that sends it
	byPi     bool   // it is pi, which changes some of it
	bedrock  bool   // it goes to Amazon Bedrock
	proven   int    // leading messages that the provider has accepted
	tokens   int64  // size of the context
	window   int64  // of the model, 0 where it is not known
}

// A sent is a message of a request.
type sent struct {
	rec     int
	ours    bool       // an entry holds it, not a patch, so a context edit can change it
	kind    jsonl.Kind // user, assistant or result, whatever it is in the session
	typed   bool       // it is a prompt or an answer in the session too
	by      string     // of an answer, the provider whose model made it, of Providers
	answers bool       // it is the answer to a request, whose usage is recorded
	call    string     // of a result, the id of its call
	size    int64      // bytes of JSON
	blocks  []sentBlock
	gone    bool // a repair leaves it out
	at      int  // its number as the provider counts: messages of one side in a row are one
	first   int  // blocks of the same message before its own
}

// A sentBlock is a block of its content.
type sentBlock struct {
	kind      jsonl.BlockKind
	index     int // in the content
	id, name  string
	empty     bool   // a text without characters
	blank     bool   // or with white space alone
	signature string // of thinking
	object    bool   // the arguments of a call are an object
	lone      bool   // it has half of a surrogate pair
	image     picture
}

// A picture is what rules look at of an image.
type picture struct {
	size       int64  // bytes of base64
	mime, is   string // as it is declared, and by its first bytes; empty if not known
	wide, high int    // pixels, 0 if not known
}

// add adds the next message, unless its agent leaves it out.
func (q *outgoing) add(m *replay.Message) {
	msg := m.Raw.Message()
	kind := m.Kind
	if kind != jsonl.Assistant && kind != jsonl.ToolResult {
		kind = jsonl.User
	}
	if q.byPi && kind == jsonl.Assistant && msg.Failed() {
		return
	}
	one := sent{rec: m.Origin.Record, ours: m.Origin.Op < 0, kind: kind, typed: kind == m.Kind, size: int64(len(m.Raw))}
	switch kind {
	case jsonl.ToolResult:
		one.call = msg.CallID.Text()
	case jsonl.Assistant:
		usage := msg.Usage.Usage()
		one.by, one.answers = maker(msg.Provider.Text(), msg.Model.Text()), !msg.Failed() && usage.Prompt() > 0
	}
	for i := range msg.Blocks {
		one.blocks = append(one.blocks, blockOf(&msg.Blocks[i], i))
	}
	q.messages = append(q.messages, one)
}

// makers are words in the names of models, or else of providers, by which the maker of a model is known.
var makers = []struct{ word, provider string }{
	{"claude", anthropic}, {"gpt", openai}, {"gemini", google}, {"anthropic", anthropic}, {"openai", openai},
	{"google", google},
}

// maker returns the provider whose rules a model's requests are held to, empty for others.
func maker(provider, model string) string {
	for _, name := range []string{model, provider} {
		for _, m := range makers {
			if strings.Contains(strings.ToLower(name), m.word) {
				return m.provider
			}
		}
	}
	return ""
}

// proven returns how many messages the last answer of a provider's model shows to be accepted: those of its
// request, unless something has changed them since.
func proven(e *replay.Envelope, q *outgoing, provider string) int {
	s := e.Replay().Session
	path, _ := s.Path(e.Leaf)
	changed := -1
	for at, rec := range path {
		switch s.Kind(rec) {
		case jsonl.Compaction, jsonl.ContextEdit, jsonl.Transform, jsonl.Reset:
			changed = at
		}
	}
	for i, m := range slices.Backward(q.messages) {
		if m.by == provider && m.answers && slices.Index(path, m.rec) > changed {
			return i
		}
	}
	return 0
}

// blockOf returns what rules look at of a block.
func blockOf(b *jsonl.Block, index int) sentBlock {
	is := sentBlock{kind: b.Kind, index: index, lone: loneSurrogate(b.Raw)}
	switch b.Kind {
	case jsonl.TextBlock:
		text := b.Raw.Get("text").Text()
		is.empty, is.blank = text == "", text != "" && len(bytes.TrimSpace([]byte(text))) == 0
	case jsonl.ThinkingBlock:
		is.signature = b.Raw.Get("thinkingSignature").Text()
		if b.Sealed() > 0 || b.Raw.Get("redacted").Truthy() {
			is.signature = string(b.Raw)
		}
	case jsonl.CallBlock:
		is.id, is.name, is.object = b.ID.Text(), b.Name.Text(), !b.Args.Exists() || b.Args.IsObject()
	case jsonl.ImageBlock:
		is.image = pictureOf(b.Data.Inside(), b.Mime.Text())
	}
	return is
}

// number counts messages and blocks as a provider does that takes two sides in turns.
func (q *outgoing) number() {
	at, first, before := -1, 0, jsonl.Unknown
	for i := range q.messages {
		m := &q.messages[i]
		if m.gone {
			continue
		}
		side := jsonl.User
		if m.kind == jsonl.Assistant {
			side = jsonl.Assistant
		}
		if side != before {
			at, first, before = at+1, 0, side
		}
		m.at, m.first = at, first
		first += len(m.blocks)
		if m.kind == jsonl.ToolResult { // one block, whatever is in it
			first = m.first + 1
		}
	}
}

// loneSurrogate reports whether JSON has an escape of half a surrogate pair without the other half.
func loneSurrogate(raw jsonl.Value) bool {
	for i := 0; i < len(raw); {
		k := bytes.IndexByte(raw[i:], '\\')
		if k < 0 {
			return false
		}
		i += k
		unit := escape(raw, i)
		switch {
		case unit&0xfc00 == 0xd800 && escape(raw, i+6)&0xfc00 == 0xdc00:
			i += 12
		case unit&0xf800 == 0xd800:
			return true
		default:
			i += 2
		}
	}
	return false
}

// escape returns the code unit of the escape \uXXXX at an index, 0 if there is none.
func escape(raw jsonl.Value, i int) (unit int) {
	if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
		return 0
	}
	for _, c := range bytes.ToLower(raw[i+2 : i+6]) {
		k := bytes.IndexByte([]byte("0123456789abcdef"), c)
		if k < 0 {
			return 0
		}
		unit = unit<<4 | k
	}
	return unit
}

// pictureHead is how much of an image is looked at, bytes of base64.
const pictureHead = 64 << 10

// pictureOf reads an image from its base64.
func pictureOf(data []byte, mime string) picture {
	p := picture{size: int64(len(data)), mime: mime}
	head := data[:min(len(data), pictureHead)/4*4]
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(head)))
	n, _ := base64.StdEncoding.Decode(raw, head)
	raw = raw[:n]
	big := binary.BigEndian
	switch {
	case bytes.HasPrefix(raw, []byte("\x89PNG\r\n\x1a\n")) && n >= 24:
		p.is, p.wide, p.high = "image/png", int(big.Uint32(raw[16:])), int(big.Uint32(raw[20:]))
	case bytes.HasPrefix(raw, []byte("GIF8")) && n >= 10:
		p.is, p.wide, p.high = "image/gif", int(binary.LittleEndian.Uint16(raw[6:])),
			int(binary.LittleEndian.Uint16(raw[8:]))
	case bytes.HasPrefix(raw, []byte("RIFF")) && n >= 12 && string(raw[8:12]) == "WEBP":
		p.is = "image/webp"
	case bytes.HasPrefix(raw, []byte("\xff\xd8\xff")):
		p.is = "image/jpeg"
		p.wide, p.high = jpegSize(raw)
	}
	return p
}

// jpegSize returns the size of a JPEG image by its frame, 0 if that is not in the first bytes.
func jpegSize(raw []byte) (wide, high int) {
	for i := 2; i+9 < len(raw) && raw[i] == 0xff; {
		marker, length := raw[i+1], int(binary.BigEndian.Uint16(raw[i+2:]))
		if marker >= 0xc0 && marker <= 0xcf && !slices.Contains([]byte{0xc4, 0xc8, 0xcc}, marker) {
			return int(binary.BigEndian.Uint16(raw[i+7:])), int(binary.BigEndian.Uint16(raw[i+5:]))
		}
		i += 2 + length
	}
	return 0, 0
}
