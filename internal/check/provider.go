package check

import (
	"iter"
	"strconv"
	"strings"

	"ctxtool/replay"
)

// The providers whose rules are known, as `--provider` names them.
const (
	anthropic = "anthropic"
	openai    = "openai"
	google    = "google"
)

// Providers are the names of all providers whose rules are known.
var Providers = []string{anthropic, openai, google}

// A rule is something that a provider refuses. A new one is a row of rules, with its source on the
// page of its check.
type rule struct {
	code     string // of the check that reports it
	provider string
	// quote is the provider's error: {m} stands for the number of a message as it counts them, {b} for that
	// of a block in it, {it} for what a hit names.
	quote  string
	find   finder
	mended bool // pi sends something else in its place, which is accepted
}

// A hit is a place in a request that a rule refuses.
type hit struct {
	message int    // its index, -1 for the request as a whole
	block   int    // in the message, -1 for all of it
	it      string // what the error names
}

// Wordings that several rules share.
const (
	strayResult = "unexpected `tool_use_id` found in `tool_result` blocks: {it}. Each `tool_result` block must have " +
		"a corresponding `tool_use` block in the previous message."
	badForm      = "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
	notJSON      = "The request body is not valid JSON: no low surrogate in string"
	responseTurn = "Please ensure that function response turn comes immediately after a function call turn."
	callTurn     = "Please ensure that function call turn comes immediately after a user turn or after a function " +
		"response turn."
)

// rules are all rules, by check, and by provider as in Providers.
var rules = []rule{
	{"refused-pairs", anthropic, "messages.{m}: `tool_use` ids were found without `tool_result` blocks immediately " +
		"after: {it}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		unanswered, true},
	{"refused-pairs", anthropic, "messages.{m}.content.{b}: " + strayResult, strays, false},
	{"refused-pairs", anthropic, "messages.{m}.content.{b}: each tool_use must have a single result. Found multiple " +
		"`tool_result` blocks with id: {it}", doubled, false},
	{"refused-pairs", anthropic, "messages.{m}.content.{b}: `tool_use` ids must be unique", sameIDs, false},
	{"refused-pairs", openai, "No tool output found for function call {it}.", unanswered, true},
	{"refused-pairs", openai, "No tool call found for function call output with call_id {it}.", strays, false},
	{"refused-pairs", google, "Please ensure that the number of function response parts is equal to the number of " +
		"function call parts of the function call turn.", unanswered, true},
	{"refused-pairs", google, responseTurn, strays, false},
	{"refused-pairs", google, "Please ensure that the number of function response parts is equal to the number of " +
		"function call parts of the function call turn.", doubled, false},

	{"refused-empty", anthropic, "messages: text content blocks must be non-empty", emptyTexts, true},
	{"refused-empty", anthropic, "messages: text content blocks must contain non-whitespace text", blankTexts, true},
	{"refused-empty", anthropic,
		"messages.{m}: all messages must have non-empty content except for the optional final assistant message",
		hollow, true},
	{"refused-empty", google, "* GenerateContentRequest.contents[{m}].parts: contents.parts must not be empty.",
		hollow, true},
	{"refused-empty", google, "* GenerateContentRequest.contents[{m}].parts[{b}].data: required oneof field 'data' " +
		"must have one initialized field", emptyTexts, true},

	{"refused-turn", anthropic, `messages: first message must use the "user" role`, answerFirstAtBedrock, false},
	{"refused-turn", google, callTurn, callFirst, false},

	{"refused-thinking", anthropic, "messages.{m}.content.{b}.thinking.signature: Field required", unsigned, true},
	{"refused-thinking", anthropic, "messages.{m}.content.{b}: `thinking` or `redacted_thinking` blocks in the " +
		"latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
		repeatedThinking, false},
	{"refused-thinking", anthropic, "messages.{m}.content.{b}: If an assistant message contains any thinking blocks, " +
		"the first block must be `thinking` or `redacted_thinking`. Found `{it}`.", thinkingLater, false},
	{"refused-thinking", openai, "Item '{it}' of type 'reasoning' was provided without its required following item.",
		loneReasoning, false},

	{"refused-image", anthropic,
		"messages.{m}.content.{b}.image.source.base64: image exceeds 5 MB maximum: {it} bytes > 5242880 bytes",
		imagesOver(5 << 20), false},
	{"refused-image", anthropic, "messages.{m}.content.{b}.image.source.base64.media_type: Input should be " +
		"'image/jpeg', 'image/png', 'image/gif' or 'image/webp'", imagesBut("image/jpeg", "image/png", "image/gif",
		"image/webp"), false},
	{"refused-image", anthropic,
		"messages.{m}.content.{b}.image.source.base64: The image was specified using the {it} image", mistyped, false},
	{"refused-image", anthropic, "messages.{m}.content.{b}.image.source.base64.data: At least one of the image " +
		"dimensions exceed max allowed size: 8000 pixels", imagesWider(8000, 0), false},
	{"refused-image", anthropic, "messages.{m}.content.{b}.image.source.base64.data: At least one of the image " +
		"dimensions exceed max allowed size for many-image requests: 2000 pixels", imagesWider(2000, 20), false},
	{"refused-image", anthropic, "Too much media: 0 document pages + {it} images > 100", imagesMore(100), false},
	{"refused-image", openai, "You uploaded an unsupported image. Please make sure your image has of one the " +
		"following formats: ['png', 'jpeg', 'gif', 'webp'].", imagesBut("image/png", "image/jpeg", "image/gif",
		"image/webp"), false},
	{"refused-image", google, "Unsupported MIME type: {it}", imagesBut("image/png", "image/jpeg", "image/webp",
		"image/heic", "image/heif"), false},

	{"refused-name", anthropic, "messages.{m}.content.{b}.tool_use.name: " + badForm, misnamed("_-", 128), false},
	{"refused-name", anthropic, "messages.{m}.content.{b}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
		badIDs, true},
	{"refused-name", anthropic, "messages.{m}.content.{b}.tool_use.input: Input should be a valid dictionary",
		noObjects, false},
	{"refused-name", openai, "Invalid 'input[{m}].name': string does not match pattern. Expected a string that " +
		"matches the pattern '^[a-zA-Z0-9_-]+$'.", misnamed("_-", 64), false},
	{"refused-name", openai, "Invalid 'input[{m}].call_id': string too long. Expected a string with maximum length " +
		"64, but got a string with length {it} instead.", longIDs(64), false},
	{"refused-name", google, "Invalid function name. Must start with a letter or an underscore. Must be alphameric " +
		"(a-z, A-Z, 0-9), underscores (_), dots (.) or dashes (-), with a maximum length of 64.", misnamedStart, false},

	{"refused-size", anthropic, "prompt is too long: {it} maximum", tooLong, false},
	{"refused-size", openai,
		"Your input exceeds the context window of this model. Please adjust your input and try again.", tooLong, false},
	{"refused-size", google, "The input token count exceeds the maximum number of tokens allowed: {it}.",
		tooLong, false},
	{"refused-size", anthropic, "Request exceeds the maximum size", tooLarge(anthropic), false},
	{"refused-size", google, "Request payload size exceeds the limit: {it} bytes.", tooLarge(google), false},

	{"refused-text", anthropic, notJSON, loneSurrogates, true},
	{"refused-text", openai, "We could not parse the JSON body of your request.", loneSurrogates, true},
}

// refusals yields what a provider refuses of a request, each place once for a rule.
func refusals(provider string, q *outgoing) iter.Seq2[*rule, hit] {
	return func(yield func(*rule, hit) bool) {
		for i := range rules {
			r := &rules[i]
			if r.provider != provider || r.mended && q.byPi {
				continue
			}
			for _, h := range r.find(q) {
				if (h.message < 0 || h.message >= q.proven) && !yield(r, h) {
					return
				}
			}
		}
	}
}

// says returns the provider's error for a hit.
func (r *rule) says(q *outgoing, h hit) string {
	m, b := 0, 0
	if h.message >= 0 {
		m, b = q.messages[h.message].at, q.messages[h.message].first+max(0, h.block)
	}
	return strings.NewReplacer("{m}", strconv.Itoa(m), "{b}", strconv.Itoa(b), "{it}", h.it).Replace(r.quote)
}

// refused returns the check of a code in the group provider, which reports what the provider refuses.
func refused(code string) func(w *walk) {
	return func(w *walk) {
		if w.opt.Provider == "" {
			return
		}
		q, err := w.outgoing()
		if err != nil {
			w.err = err
			return
		}
		for r, h := range refusals(w.opt.Provider, q) {
			switch {
			case r.code != code:
			case h.message < 0:
				w.addLine(0, "", "%s refuses the request: %q", r.provider, r.says(q, h))
			default:
				w.add(q.messages[h.message].rec, "%s refuses message %d: %q", r.provider, h.message, r.says(q, h))
			}
		}
	}
}

// outgoing returns the request that a resume would send, read on first use.
func (w *walk) outgoing() (*outgoing, error) {
	if w.sends == nil {
		q, err := newOutgoing(w.active, w.opt.Provider)
		if err != nil {
			return nil, err
		}
		w.sends = q
	}
	return w.sends, nil
}

// newOutgoing reads the request that a resume sends: the messages of a context, as its agent sends
// them, before a new prompt.
func newOutgoing(e *replay.Envelope, provider string) (*outgoing, error) {
	s := e.Replay().Session
	q := &outgoing{byPi: s.Dialect() == nil, agent: s.Dialect().Agent()}
	ref, window, from, err := e.Model()
	if err != nil {
		return nil, err
	}
	q.bedrock = strings.Contains(ref.Provider, "bedrock")
	size, err := e.Size()
	if err != nil {
		return nil, err
	}
	q.tokens = int64(size.Tokens)
	if from != "recorded" { // else requests were larger than the window of the table
		q.window = window
	}
	for m, err := range e.Sources(func(replay.Message) bool { return true }) {
		if err != nil {
			return nil, err
		}
		q.add(&m)
	}
	q.number()
	q.proven = proven(e, q, provider)
	return q, nil
}

// accepts is the fix of what a provider refuses.
const accepts = "ctxtool repair --provider PROVIDER FILE"
