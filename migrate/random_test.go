package migrate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
)

// randomSession is a small session in which compactions stand in each other's way:
// they keep anything, on several branches, among edits, patches, system messages
// and labels that point anywhere.
func randomSession(seed uint64, version int) []byte {
	r := rand.New(rand.NewPCG(seed, 5))
	var b bytes.Buffer
	fmt.Fprint(&b, `{"type":"session"`)
	if version > 1 {
		fmt.Fprintf(&b, `,"version":%d`, version)
	}
	fmt.Fprintln(&b, `,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`)
	n := 6 + r.IntN(25)
	systems, edits, patches, odd := r.IntN(4) == 0, r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(3) == 0
	target := func() string { return fmt.Sprintf("e%d", 1+r.IntN(n)) }
	for i := 1; i <= n; i++ {
		parent := fmt.Sprintf(`"e%d"`, i-1)
		if i == 1 {
			parent = "null"
		} else if version > 1 && r.IntN(12) == 0 {
			parent = fmt.Sprintf(`"e%d"`, 1+r.IntN(i-1))
		}
		place := fmt.Sprintf(`"id":"e%d","parentId":%s,`, i, parent)
		if version == 1 {
			place = ""
		}
		entry := func(kind, format string, args ...any) {
			fmt.Fprintf(&b, `{"type":"%s",%s"timestamp":"2026-01-01T00:00:%02d.000Z",%s}`+"\n", kind, place, i, fmt.Sprintf(format, args...))
		}
		switch k := r.IntN(24); {
		case k < 6:
			entry("message", `"message":{"role":"user","content":"u%d","timestamp":%d}`, i, i)
		case k < 9:
			entry("message", `"message":{"role":"assistant","content":[{"type":"text","text":"a%d"}],"timestamp":%d}`, i, i)
		case k == 9:
			entry("message", `"message":{"role":"bashExecution","command":"c%d","output":"","cancelled":false,"truncated":false,"excludeFromContext":%t,"timestamp":%d}`, i, r.IntN(2) == 0, i)
		case k == 10:
			entry("message", `"message":{"role":"%s","customType":"t","content":"h%d","display":true,"timestamp":%d}`, []string{"hookMessage", "custom"}[r.IntN(2)], i, i)
		case k == 11:
			entry("label", `"targetId":%q,"label":"l"`, target())
		case k == 12:
			entry("model_change", `"provider":"p","modelId":"m%d"`, i)
		case k == 13 && edits:
			entry("context_edit", `"targetId":%q,"replacement":%s`, target(), []string{"null", `{"content":"new"}`}[r.IntN(2)])
		case k == 14 && systems:
			entry("message", `"message":{"role":"system","content":"s%d","timestamp":%d}`, i, i)
		case k == 15 && patches:
			entry("context_transform", `"schemaVersion":1,"transformerName":%q,"patch":[%s]`, []string{"x", "compaction"}[r.IntN(2)], randomOp(r, i))
		case k >= 13 && k < 20:
			entry("message", `"message":{"role":"user","content":[{"type":"text","text":"v%d"}],"timestamp":%d}`, i, i)
		default:
			entry("compaction", `"summary":"sum%d",%s,"tokensBefore":1.50%s`, i, randomKept(r, i, n, version), randomRest(r, odd))
		}
	}
	return b.Bytes()
}

func randomKept(r *rand.Rand, i, n, version int) string {
	kept := max(1, i-r.IntN(8))
	if r.IntN(8) == 0 {
		kept = 1 + r.IntN(n)
	}
	if version == 1 {
		return fmt.Sprintf(`"firstKeptEntryIndex":%d`, kept)
	}
	return fmt.Sprintf(`"firstKeptEntryId":"e%d"`, kept)
}

func randomRest(r *rand.Rand, odd bool) string {
	if !odd {
		return ""
	}
	return []string{
		"", "", "", `,"systemMessage":{"role":"system","content":"cp"}`, `,"systemMessage":{"role":"user","content":"cp"}`, `,"display":{"title":"mine"}`, `,"details":{"readFiles":["a"]}`,
	}[r.IntN(7)]
}

func randomOp(r *rand.Rand, i int) string {
	cached := `"scope":"cached","invalidateCacheReason":"r"`
	return []string{
		fmt.Sprintf(`{"op":"compaction_apply",%s,"summary":"op%d","timestamp":%d,"firstKeptMessageIndex":%d}`, cached, i, i, r.IntN(4)),
		fmt.Sprintf(`{"op":"messages_cached_replace",%s,"messages":[{"role":"user","content":"u%d","timestamp":%d},{"role":"user","content":"r%d"}]}`, cached, i-1, i-1, i),
		fmt.Sprintf(`{"op":"system_part_set",%s,"partName":"p","text":"t%d"}`, cached, i),
		fmt.Sprintf(`{"op":"messages_uncached_append","scope":"uncached","messages":[{"role":"user","content":"q%d"}]}`, i),
		`{"op":"system_part_remove","scope":"cached","partName":"p"}`,
	}[min(4, r.IntN(40)/8)]
}

// TestLaw5Random is law 5 for sessions that try to break it.
func TestLaw5Random(t *testing.T) {
	turned, native := 0, map[string]int{}
	seeds := uint64(corpus.Pick(200, 2000))
	for seed := range seeds {
		version := 1 + int(seed%3)
		s := open(t, fmt.Sprintf("random %d", seed), randomSession(seed, version))
		before := contexts{}
		for _, mode := range modes[1:] {
			opt := Options{Compaction: mode}
			r := migrated(t, s, opt)
			r.lawful(t, before)
			r.twice(t, opt)
			turned += r.plan.Turned
			for _, f := range r.plan.Native {
				native[strings.TrimPrefix(f.Text, "the compaction is not converted: ")]++
			}
		}
		s.Close()
	}
	t.Logf("%d compactions turned", turned)
	for why, n := range native {
		t.Logf("%6d stay: %s", n, why)
	}
	if turned < int(seeds)/2 || len(native) < 10 {
		t.Errorf("%d turned, %d reasons not to: too few to say anything", turned, len(native))
	}
}
