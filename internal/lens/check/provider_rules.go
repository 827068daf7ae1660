package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
)

// live yields the messages that the request has, with their indexes.
func (q *outgoing) live(yield func(i int, m *sent) bool) {
	for i := range q.messages {
		if !q.messages[i].gone && !yield(i, &q.messages[i]) {
			return
		}
	}
}

// A finder returns the places that a rule refuses.
type finder func(q *outgoing) []hit

// The finders of rules.
var (
	sameIDs    = repeated(func(b *sentBlock) string { return b.id })
	emptyTexts = each(func(_ *outgoing, m *sent, b *sentBlock) (bool, string) { return m.spoken() && b.empty, "" })
	blankTexts = each(func(_ *outgoing, m *sent, b *sentBlock) (bool, string) { return m.spoken() && b.blank, "" })
	// Anthropic itself takes a request that begins with an answer, and Google one without a call.
	answerFirstAtBedrock = first(func(q *outgoing, _ *sent) bool { return q.bedrock })
	callFirst            = first(func(_ *outgoing, m *sent) bool {
		return slices.ContainsFunc(m.blocks, func(b sentBlock) bool { return b.kind == jsonl.CallBlock })
	})
	// Of agents that store the signature of thinking.
	unsigned = each(func(q *outgoing, m *sent, b *sentBlock) (bool, string) {
		stored := m.by == anthropic && (q.agent == "claude" || q.agent == "openclaw")
		return stored && b.kind == jsonl.ThinkingBlock && b.signature == "", ""
	})
	// The blocks of an answer are no longer as they were.
	repeatedThinking = repeated(func(b *sentBlock) string {
		if len(b.signature) < leastSignature {
			return ""
		}
		return b.signature
	})
	// A recorded reasoning item that ends an answer.
	loneReasoning = each(func(_ *outgoing, m *sent, b *sentBlock) (bool, string) {
		id := jsonl.Value(b.signature).Get("id").Text()
		ends := m.kind == jsonl.Assistant && b == &m.blocks[len(m.blocks)-1]
		return ends && strings.HasPrefix(id, "rs_"), id
	})
	over5MB    = ofImages(func(p *picture) (bool, string) { return p.size > 5<<20, strconv.FormatInt(p.size, 10) })
	otherTypes = imagesBut("image/png", "image/jpeg", "image/gif", "image/webp")
	newerTypes = imagesBut("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
	mistyped   = ofImages(func(p *picture) (bool, string) {
		return p.is != "" && p.is != p.mime, fmt.Sprintf("%s media type, but the image appears to be a %s", p.mime, p.is)
	})
	wider8000   = imagesWider(8000, 0)
	widerOfMany = imagesWider(2000, 20)
	// The images before the last ones, of which there may be so many.
	over100Images = func(q *outgoing) []hit {
		all := allImages(q)
		for i := range all {
			all[i].it = strconv.Itoa(len(all))
		}
		return all[:max(0, len(all)-100)]
	}
	namesOf128    = misnamed("_-", 128)
	namesOf64     = misnamed("_-", 64)
	misnamedStart = ofCalls(func(b *sentBlock) (bool, string) {
		return !formed(b.name, "_.:-", 64) || strings.IndexAny(b.name, ".:-0123456789") == 0, b.name
	})
	badIDs = ofCalls(func(b *sentBlock) (bool, string) { return !formed(b.id, "_-", len(b.id)), b.id })
	// Of an id that pi stores, what follows a bar is the id of the item.
	idsOver64 = ofCalls(func(b *sentBlock) (bool, string) {
		id, _, _ := strings.Cut(b.id, "|")
		return len(id) > 64, strconv.Itoa(len(id))
	})
	noObjects = ofCalls(func(b *sentBlock) (bool, string) { return !b.object, "" })
	// Strict readers of JSON do not take half of a surrogate pair.
	loneSurrogates = each(func(_ *outgoing, _ *sent, b *sentBlock) (bool, string) { return b.lone, "" })
)

// strays and doubled refuse results without a call, and those of a call that has one.
func strays(q *outgoing) []hit { return q.paired(true).stray }

func doubled(q *outgoing) []hit { return q.paired(true).doubled }

// leastSignature is the length from which on a text can be a signature, and not what stands for one.
const leastSignature = 64

// each refuses the blocks for which bad returns true, with what the error names.
func each(bad func(q *outgoing, m *sent, b *sentBlock) (bool, string)) finder {
	return func(q *outgoing) (all []hit) {
		for i, m := range q.live {
			for k := range m.blocks {
				if is, it := bad(q, m, &m.blocks[k]); is {
					all = append(all, hit{i, k, it})
				}
			}
		}
		return all
	}
}

// ofCalls and ofImages are each for the calls of answers and for images.
func ofCalls(bad func(b *sentBlock) (bool, string)) finder {
	return each(func(_ *outgoing, m *sent, b *sentBlock) (bool, string) {
		if m.kind != jsonl.Assistant || b.kind != jsonl.CallBlock {
			return false, ""
		}
		return bad(b)
	})
}

func ofImages(bad func(p *picture) (bool, string)) finder {
	return each(func(_ *outgoing, _ *sent, b *sentBlock) (bool, string) {
		if b.kind != jsonl.ImageBlock {
			return false, ""
		}
		return bad(&b.image)
	})
}

// repeated refuses blocks of answers with the key of an earlier block; blocks without a key pass.
func repeated(key func(b *sentBlock) string) finder {
	return func(q *outgoing) []hit {
		seen := map[string]bool{"": false}
		return each(func(_ *outgoing, m *sent, b *sentBlock) (bool, string) {
			k := key(b)
			if m.kind != jsonl.Assistant || k == "" {
				return false, ""
			}
			was := seen[k]
			seen[k] = true
			return was, b.id
		})(q)
	}
}

// refusedPairs are what is wrong with the calls and results of a request.
type refusedPairs struct{ unanswered, stray, doubled []hit }

// paired pairs calls and results. Strictly, as providers do, a result belongs to the last answer before it, and for
// pi, which fills the gap when a prompt follows, it follows directly.
func (q *outgoing) paired(strictly bool) (all refusedPairs) {
	var waits []hit             // calls, those with a result of message -1
	known := map[string][]int{} // by id, calls in waits without a result
	settle := func() {
		all.unanswered = append(all.unanswered, slices.DeleteFunc(waits, func(h hit) bool { return h.message < 0 })...)
		waits, known = nil, map[string][]int{} // clearing one takes as long as it was ever large
	}
	answer := func(id string) {
		last := len(known[id]) - 1
		waits[known[id][last]].message = -1
		known[id] = known[id][:last]
	}
	for i, m := range q.live {
		if strictly && (m.kind == jsonl.Assistant || m.kind == jsonl.User && q.byPi) {
			settle()
		}
		switch open, is := known[m.call]; {
		case m.kind == jsonl.Assistant:
			for k, b := range m.blocks {
				if b.kind != jsonl.CallBlock {
					continue
				}
				if strictly && len(known[b.id]) > 0 { // twice in one answer, which another rule refuses
					answer(b.id)
				}
				known[b.id] = append(known[b.id], len(waits))
				waits = append(waits, hit{i, k, b.id})
			}
		case m.kind != jsonl.ToolResult:
		case !is:
			all.stray = append(all.stray, hit{i, -1, m.call})
		case len(open) == 0:
			all.doubled = append(all.doubled, hit{i, -1, m.call})
		default:
			answer(m.call)
		}
	}
	settle()
	return all
}

// last returns the last message other than a result. When it resumes, Claude Code drops calls that are followed
// only by results.
func (q *outgoing) last() (at int) {
	for i, m := range q.live {
		if m.kind != jsonl.ToolResult {
			at = i
		}
	}
	return at
}

// unanswered refuses calls without a result, unless the agent gives them one.
func unanswered(q *outgoing) []hit {
	if q.agent == "codex" {
		return nil
	}
	last := q.last()
	return slices.DeleteFunc(q.paired(true).unanswered, func(h hit) bool {
		return q.agent == "claude" &&
			h.message >= last
	})
}

// spoken reports whether a message is a prompt or an answer: providers take empty results.
func (m *sent) spoken() bool { return m.typed && m.kind != jsonl.ToolResult }

// hollow refuses messages without content.
func hollow(q *outgoing) (all []hit) {
	for i, m := range q.live {
		if len(m.blocks) == 0 && m.spoken() {
			all = append(all, hit{i, -1, ""})
		}
	}
	return all
}

// first refuses a request that begins with an answer for which bad returns true.
func first(bad func(q *outgoing, m *sent) bool) finder {
	return func(q *outgoing) []hit {
		for i, m := range q.live {
			if m.kind == jsonl.Assistant && bad(q, m) {
				return []hit{{i, -1, ""}}
			}
			break
		}
		return nil
	}
}

// thinkingLater refuses an answer, of what a provider takes as one, with thinking that does not begin it.
func thinkingLater(q *outgoing) (all []hit) {
	first := -1 // block kind that begins the answer, of the messages in a row
	for i, m := range q.live {
		if m.kind != jsonl.Assistant {
			first = -1
			continue
		}
		for k, b := range m.blocks {
			switch {
			case b.blank: // is not sent
			case first < 0:
				first = int(b.kind)
			case b.kind == jsonl.ThinkingBlock && first != int(jsonl.ThinkingBlock) && b.signature != "":
				all = append(all, hit{i, k, blockNames[jsonl.BlockKind(first)]})
			}
		}
	}
	return all
}

// blockNames are the names that Anthropic has for blocks.
var blockNames = map[jsonl.BlockKind]string{jsonl.TextBlock: "text", jsonl.CallBlock: "tool_use"}

// imagesBut refuses images of other types.
func imagesBut(types ...string) finder {
	return ofImages(func(p *picture) (bool, string) { return !slices.Contains(types, p.mime), p.mime })
}

// allImages finds all images.
var allImages = ofImages(func(*picture) (bool, string) { return true, "" })

// imagesWider refuses images with more pixels on a side, in a request with more images than some.
func imagesWider(most, some int) finder {
	wide := ofImages(func(p *picture) (bool, string) { return max(p.wide, p.high) > most, "" })
	return func(q *outgoing) []hit {
		if len(allImages(q)) <= some {
			return nil
		}
		return wide(q)
	}
}

// formed reports whether a name has letters, digits and these marks alone, and so many bytes at most.
func formed(name, marks string, most int) bool {
	other := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(marks, c))
	}
	return name != "" && len(name) <= most && strings.IndexFunc(name, other) < 0
}

// misnamed refuses calls of tools with another name.
func misnamed(marks string, most int) finder {
	return ofCalls(func(b *sentBlock) (bool, string) { return !formed(b.name, marks, most), b.name })
}

// tooLong refuses a context over the window.
func tooLong(q *outgoing) []hit {
	if q.window <= 0 || q.tokens <= q.window {
		return nil
	}
	return []hit{{-1, -1, fmt.Sprintf("%d tokens > %d", q.tokens, q.window)}}
}

// tooLarge refuses messages with more bytes than the provider takes.
func tooLarge(q *outgoing) []hit {
	l, _ := models.LimitsOf(q.provider)
	size := int64(0)
	for _, m := range q.live {
		size += m.size
	}
	if size <= l.Request {
		return nil
	}
	return []hit{{-1, -1, strconv.FormatInt(l.Request, 10)}}
}
