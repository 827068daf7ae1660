package check

import (
	"fmt"
	"iter"
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

// blocks yields the blocks of a kind in all messages, or in those of one kind if that is not Unknown.
func (q *outgoing) blocks(kind jsonl.BlockKind, in jsonl.Kind) iter.Seq2[hit, *sentBlock] {
	return func(yield func(hit, *sentBlock) bool) {
		for i, m := range q.live {
			for k := range m.blocks {
				if m.blocks[k].kind == kind && (in == jsonl.Unknown || in == m.kind) && !yield(hit{message: i, block: k}, &m.blocks[k]) {
					return
				}
			}
		}
	}
}

// eachBlock returns the rule that refuses blocks of a kind for which bad returns true, and what the error names.
func eachBlock(kind jsonl.BlockKind, in jsonl.Kind, bad func(b *sentBlock) (bool, string)) func(*outgoing) iter.Seq[hit] {
	return func(q *outgoing) iter.Seq[hit] {
		return func(yield func(hit) bool) {
			for h, b := range q.blocks(kind, in) {
				is, it := bad(b)
				if h.it = it; is && !yield(h) {
					return
				}
			}
		}
	}
}

// refusedPairs are what is wrong with the calls and results of a request.
type refusedPairs struct{ unanswered, stray, doubled []hit }

// paired pairs calls and results: a result belongs to the last answer before it, and for pi, which fills the gap
// when a prompt follows, it follows directly.
func (q *outgoing) paired() (all refusedPairs) {
	open, known := map[string]int{}, map[string]bool{} // by id, the block of a call without result; all of the last answer
	last := -1
	settle := func() {
		for k, b := range q.blocksOf(last) {
			if at, waits := open[b.id]; waits && at == k {
				all.unanswered = append(all.unanswered, hit{last, k, b.id})
			}
		}
		clear(open)
	}
	for i, m := range q.live {
		switch {
		case m.kind == jsonl.Assistant:
			settle()
			clear(known)
			last = i
			for k, b := range m.blocks {
				if b.kind == jsonl.CallBlock {
					open[b.id], known[b.id] = k, true
				}
			}
		case m.kind == jsonl.User && q.byPi:
			settle()
			clear(known)
		case m.kind != jsonl.ToolResult:
		case !known[m.call]:
			all.stray = append(all.stray, hit{i, -1, m.call})
		default:
			if _, waits := open[m.call]; !waits {
				all.doubled = append(all.doubled, hit{i, -1, m.call})
			}
			delete(open, m.call)
		}
	}
	settle()
	return all
}

// ends reports whether nothing but results follows a message: then Claude Code drops its calls when it resumes.
func (q *outgoing) ends(at int) bool {
	for i, m := range q.live {
		if i > at && m.kind != jsonl.ToolResult {
			return false
		}
	}
	return true
}

// blocksOf returns the blocks of a message, none of message -1.
func (q *outgoing) blocksOf(i int) []sentBlock {
	if i < 0 {
		return nil
	}
	return q.messages[i].blocks
}

// hits yields hits that are found all at once.
func hits(find func(q *outgoing) []hit) func(*outgoing) iter.Seq[hit] {
	return func(q *outgoing) iter.Seq[hit] {
		return func(yield func(hit) bool) {
			for _, h := range find(q) {
				if !yield(h) {
					return
				}
			}
		}
	}
}

var (
	unanswered = hits(func(q *outgoing) []hit {
		all := q.paired().unanswered
		if q.agent == "codex" { // gives the call a result
			return nil
		}
		return slices.DeleteFunc(all, func(h hit) bool { return q.agent == "claude" && q.ends(h.message) })
	})
	strays  = hits(func(q *outgoing) []hit { return q.paired().stray })
	doubled = hits(func(q *outgoing) []hit { return q.paired().doubled })
)

// sameIDs refuses calls with the id of an earlier one.
var sameIDs = hits(func(q *outgoing) (all []hit) {
	seen := map[string]bool{}
	for h, b := range q.blocks(jsonl.CallBlock, jsonl.Assistant) {
		if h.it = b.id; seen[b.id] {
			all = append(all, h)
		}
		seen[b.id] = true
	}
	return all
})

// spoken are the texts of prompts and answers: providers take an empty result.
func spoken(bad func(b *sentBlock) bool) func(*outgoing) iter.Seq[hit] {
	return hits(func(q *outgoing) (all []hit) {
		for h, b := range q.blocks(jsonl.TextBlock, jsonl.Unknown) {
			if m := &q.messages[h.message]; m.typed && m.kind != jsonl.ToolResult && bad(b) {
				all = append(all, h)
			}
		}
		return all
	})
}

var (
	emptyTexts = spoken(func(b *sentBlock) bool { return b.empty })
	blankTexts = spoken(func(b *sentBlock) bool { return b.blank })
)

// hollow refuses messages without content.
var hollow = hits(func(q *outgoing) (all []hit) {
	for i, m := range q.live {
		if len(m.blocks) == 0 && m.typed && m.kind != jsonl.ToolResult {
			all = append(all, hit{i, -1, ""})
		}
	}
	return all
})

// answersFirst returns the first message if it is an answer.
func (q *outgoing) answersFirst() []hit {
	for i, m := range q.live {
		if m.kind == jsonl.Assistant {
			return []hit{{i, -1, ""}}
		}
		break
	}
	return nil
}

// answerFirstAtBedrock refuses requests that begin with an answer, which Anthropic itself takes.
var answerFirstAtBedrock = hits(func(q *outgoing) []hit {
	if !q.bedrock {
		return nil
	}
	return q.answersFirst()
})

// callFirst refuses requests that begin with a call.
var callFirst = hits(func(q *outgoing) []hit {
	return slices.DeleteFunc(q.answersFirst(), func(h hit) bool {
		return !slices.ContainsFunc(q.messages[h.message].blocks, func(b sentBlock) bool { return b.kind == jsonl.CallBlock })
	})
})

// unsigned refuses thinking whose signature is lost, of agents that store it.
var unsigned = hits(func(q *outgoing) (all []hit) {
	for h, b := range q.blocks(jsonl.ThinkingBlock, jsonl.Assistant) {
		if b.signature == "" && q.messages[h.message].by == anthropic && (q.agent == "claude" || q.agent == "openclaw") {
			all = append(all, h)
		}
	}
	return all
})

// leastSignature is the length from which on a text can be a signature, and not what stands for one.
const leastSignature = 64

// repeatedThinking refuses thinking that the request has twice: the blocks of an answer are no longer as they were.
var repeatedThinking = hits(func(q *outgoing) (all []hit) {
	seen := map[string]bool{}
	for h, b := range q.blocks(jsonl.ThinkingBlock, jsonl.Assistant) {
		if len(b.signature) >= leastSignature && seen[b.signature] {
			all = append(all, h)
		}
		seen[b.signature] = true
	}
	return all
})

// thinkingLater refuses an answer, of what a provider takes as one, with thinking that does not begin it.
var thinkingLater = hits(func(q *outgoing) (all []hit) {
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
})

// blockNames are the names that Anthropic has for blocks.
var blockNames = map[jsonl.BlockKind]string{jsonl.TextBlock: "text", jsonl.CallBlock: "tool_use"}

// loneReasoning refuses an answer that is a recorded reasoning item and nothing else.
var loneReasoning = hits(func(q *outgoing) (all []hit) {
	for i, m := range q.live {
		if m.kind != jsonl.Assistant || len(m.blocks) == 0 {
			continue
		}
		last := len(m.blocks) - 1
		item := jsonl.Value(m.blocks[last].signature).Get("id")
		if m.blocks[last].kind == jsonl.ThinkingBlock && strings.HasPrefix(item.Text(), "rs_") {
			all = append(all, hit{i, last, item.Text()})
		}
	}
	return all
})

// imagesOver refuses images with more bytes of base64.
func imagesOver(most int64) func(*outgoing) iter.Seq[hit] {
	return eachBlock(jsonl.ImageBlock, jsonl.Unknown, func(b *sentBlock) (bool, string) {
		return b.image.size > most, strconv.FormatInt(b.image.size, 10)
	})
}

// imagesBut refuses images of other types.
func imagesBut(types ...string) func(*outgoing) iter.Seq[hit] {
	return eachBlock(jsonl.ImageBlock, jsonl.Unknown, func(b *sentBlock) (bool, string) {
		for _, one := range types {
			if b.image.mime == one {
				return false, ""
			}
		}
		return true, b.image.mime
	})
}

// mistyped refuses images whose bytes are of another type than they are declared as.
var mistyped = eachBlock(jsonl.ImageBlock, jsonl.Unknown, func(b *sentBlock) (bool, string) {
	p := &b.image
	return p.is != "" && p.is != p.mime, fmt.Sprintf("%s media type, but the image appears to be a %s", p.mime, p.is)
})

// imagesWider refuses images with more pixels on a side, in a request with more images than some.
func imagesWider(most, some int) func(*outgoing) iter.Seq[hit] {
	return hits(func(q *outgoing) (all []hit) {
		n := 0
		for h, b := range q.blocks(jsonl.ImageBlock, jsonl.Unknown) {
			if n++; max(b.image.wide, b.image.high) > most {
				all = append(all, h)
			}
		}
		if n <= some {
			return nil
		}
		return all
	})
}

// imagesMore refuses the images before the last ones, of which there may be so many.
func imagesMore(most int) func(*outgoing) iter.Seq[hit] {
	return hits(func(q *outgoing) (all []hit) {
		for h := range q.blocks(jsonl.ImageBlock, jsonl.Unknown) {
			all = append(all, h)
		}
		for i := range all {
			all[i].it = strconv.Itoa(len(all))
		}
		return all[:max(0, len(all)-most)]
	})
}

// formed reports whether a name has letters, digits and these marks alone, and so many bytes at most.
func formed(name, marks string, most int) bool {
	other := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(marks, c))
	}
	return name != "" && len(name) <= most && strings.IndexFunc(name, other) < 0
}

// misnamed refuses calls of tools with another name.
func misnamed(marks string, most int) func(*outgoing) iter.Seq[hit] {
	return eachBlock(jsonl.CallBlock, jsonl.Assistant, func(b *sentBlock) (bool, string) {
		return !formed(b.name, marks, most), b.name
	})
}

// misnamedStart refuses calls of tools whose name begins otherwise than with a letter or an underscore too.
var misnamedStart = eachBlock(jsonl.CallBlock, jsonl.Assistant, func(b *sentBlock) (bool, string) {
	return !formed(b.name, "_.:-", 64) || strings.IndexAny(b.name, ".:-0123456789") == 0, b.name
})

// badIDs refuses calls whose id has other characters.
var badIDs = eachBlock(jsonl.CallBlock, jsonl.Assistant, func(b *sentBlock) (bool, string) {
	return !formed(b.id, "_-", len(b.id)), b.id
})

// longIDs refuses calls with longer ids. Of one that pi stores, what follows a bar is the id of the item.
func longIDs(most int) func(*outgoing) iter.Seq[hit] {
	return eachBlock(jsonl.CallBlock, jsonl.Assistant, func(b *sentBlock) (bool, string) {
		id, _, _ := strings.Cut(b.id, "|")
		return len(id) > most, strconv.Itoa(len(id))
	})
}

// noObjects refuses calls whose arguments are no object.
var noObjects = eachBlock(jsonl.CallBlock, jsonl.Assistant, func(b *sentBlock) (bool, string) { return !b.object, "" })

// tooLong refuses a context over the window.
var tooLong = hits(func(q *outgoing) []hit {
	if q.window <= 0 || q.tokens <= q.window {
		return nil
	}
	return []hit{{-1, -1, fmt.Sprintf("%d tokens > %d", q.tokens, q.window)}}
})

// tooLarge refuses messages with more bytes than a provider takes.
func tooLarge(provider string) func(*outgoing) iter.Seq[hit] {
	return hits(func(q *outgoing) []hit {
		l, _ := models.LimitsOf(provider)
		size, most := int64(0), l.Request
		for _, m := range q.live {
			size += m.size
		}
		if size <= most {
			return nil
		}
		return []hit{{-1, -1, strconv.FormatInt(most, 10)}}
	})
}

// loneSurrogates refuses texts that strict readers of JSON do not take.
var loneSurrogates = hits(func(q *outgoing) (all []hit) {
	for i, m := range q.live {
		for k, b := range m.blocks {
			if b.lone {
				all = append(all, hit{i, k, ""})
			}
		}
	}
	return all
})
