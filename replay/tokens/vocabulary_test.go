package tokens

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unicode"

	"ctxtool/internal/test/corpus"
)

// vocabularies are those that tests visit, with the SHA-256 of the file that
// OpenAI publishes: a line a token, its bytes in base64 and its rank.
var vocabularies = []struct {
	name      string
	v         *Vocabulary
	published string
}{
	{"cl100k", &CL100K, "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"},
	{"o200k", &O200K, "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"},
}

// countings are one for each vocabulary. Tests count with them, and not by Count: its
// pool forgets at random under the race detector.
func countings() (all []func(text []byte) int) {
	for _, v := range vocabularies {
		c := v.v.counting()
		all = append(all, func(text []byte) int { return c.text(v.v.next, text) })
	}
	return all
}

// TestTables finds every token in the table, in what is published, and nothing else.
func TestTables(t *testing.T) {
	for _, v := range vocabularies {
		list := v.v.table().tokens()
		file := sha256.New()
		packed := make([][]byte, len(list))
		ranks := ranksOf(v.v)
		for rank, token := range list {
			fmt.Fprintf(file, "%s %d\n", base64.StdEncoding.EncodeToString([]byte(token)), rank)
			packed[rank] = []byte(token)
			if got := v.v.table().rank([]byte(token), hash([]byte(token))); got != uint32(rank) {
				t.Fatalf("%s: %q is of rank %d, the table says %d", v.name, token, rank, got)
			}
		}
		if got := fmt.Sprintf("%x", file.Sum(nil)); got != v.published {
			t.Errorf("%s: SHA-256 %s, published is %s", v.name, got, v.published)
		}
		if again, err := packVocabulary(packed); err != nil || !reflect.DeepEqual(unpack(again), v.v.table()) {
			t.Errorf("%s: packed again it is another table: %v", v.name, err)
		}
		others := 0
		for rank := range list {
			other := list[rank] + list[(rank*7919)%len(list)]
			if _, ok := ranks[other]; ok || len(other) > longestToken {
				continue
			}
			others++
			if got := v.v.table().rank([]byte(other), hash([]byte(other))); got != noRank {
				t.Fatalf("%s: %q is no token, the table says %d", v.name, other, got)
			}
		}
		t.Logf("%s: %d tokens and %d others", v.name, len(list), others)
	}
}

// TestPackRefuses gives what fits no table.
func TestPackRefuses(t *testing.T) {
	for _, list := range [][][]byte{{{}}, {bytes.Repeat([]byte("a"), 256)}, make([][]byte, 1<<rankBits+1)} {
		if _, err := packVocabulary(list); err == nil {
			t.Errorf("%d tokens: no error", len(list))
		}
	}
}

// TestClasses holds the classes to Go's own, which are of an older Unicode, for all
// characters that are in both, and says how many are newer.
func TestClasses(t *testing.T) {
	newer := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := symbol
		switch {
		case r == '\n' || r == '\r':
			want = newline
		case unicode.Is(unicode.White_Space, r):
			want = space
		case unicode.In(r, unicode.Lu, unicode.Lt):
			want = upper
		case unicode.Is(unicode.Ll, r):
			want = lower
		case unicode.In(r, unicode.Lm, unicode.Lo):
			want = uncased
		case unicode.Is(unicode.M, r):
			want = mark
		case unicode.Is(unicode.N, r):
			want = number
		}
		switch got := loadClasses().of(r); {
		case got == want:
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z):
			t.Errorf("%U: class %d, Go says %d", r, got, want)
		default:
			newer++
		}
	}
	t.Logf("%d characters are newer than Go's tables of Unicode %s", newer, unicode.Version)
	if newer == 0 && unicode.Version < "16" {
		t.Error("the classes have no character of Unicode 16")
	}
}

// TestOracle counts made texts as they are counted by the book.
func TestOracle(t *testing.T) {
	n := 4_000
	if corpus.Whole() {
		n = 40_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	texts := append([]string{}, scripts...)
	for range n {
		texts = append(texts, madeText(r, 12))
	}
	judge := newJudge()
	for _, text := range texts {
		judge.check(t, text)
	}
}

// ranksOf are the ranks of a vocabulary's tokens, made once for all tests.
func ranksOf(v *Vocabulary) map[string]int {
	ranksMade.Lock()
	defer ranksMade.Unlock()
	ranks := ranksMade.of[v]
	if ranks == nil {
		ranks = map[string]int{}
		for rank, token := range v.table().tokens() {
			ranks[token] = rank
		}
		if ranksMade.of == nil {
			ranksMade.of = map[*Vocabulary]map[string]int{}
		}
		ranksMade.of[v] = ranks
	}
	return ranks
}

var ranksMade struct {
	sync.Mutex
	of map[*Vocabulary]map[string]int
}

// A judge compares with the oracle.
type judge struct {
	ranks []map[string]int
	count []func(text []byte) int
}

func newJudge() *judge {
	j := &judge{count: countings()}
	for _, v := range vocabularies {
		j.ranks = append(j.ranks, ranksOf(v.v))
	}
	return j
}

func (j *judge) check(t *testing.T, text string) {
	t.Helper()
	for k, v := range vocabularies {
		sum := 0
		at := 0
		for _, piece := range oraclePieces(v.name, text) {
			if end := v.v.next(loadClasses(), []byte(text), at); text[at:end] != piece {
				t.Fatalf("%s: in %q a piece is %q, the expression says %q", v.name, text, text[at:end], piece)
			}
			at += len(piece)
			sum += oracleTokens(j.ranks[k], piece)
		}
		if got := j.count[k]([]byte(text)); got != sum {
			t.Fatalf("%s: %q has %d tokens, by the book %d", v.name, text, got, sum)
		}
	}
}

// TestLong counts long pieces in windows of all sizes as in one.
func TestLong(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	windows := 0
	for _, v := range vocabularies {
		c := v.v.counting()
		for _, piece := range longPieces(r) {
			text := []byte(piece)
			want := c.long(text, len(text))
			for _, size := range []int{64, 100, 1 << 10, 5000, windowBytes} {
				windows += len(text) / size
				if got := c.long(text, size); got != want {
					t.Errorf("%s: %.20q... of %d bytes has %d tokens in windows of %d bytes, %d in one", v.name, piece, len(text), got, size, want)
				}
			}
			if len(text) <= shortPiece {
				t.Errorf("%.20q... is not long", piece)
			} else if head := text[:shortPiece]; c.joins.count(&c.ranks, head) != c.long(head, 64) {
				t.Errorf("%s: %q is not the same short and long", v.name, head)
			}
		}
	}
	t.Logf("%d windows", windows)
}

// TestCut counts texts in two parts as in one.
func TestCut(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	cuts, countings := 0, countings()
	for range 5_000 {
		text := []byte(madeText(r, 30))
		at := Cut(text)
		if at > 0 {
			cuts++
		}
		for k, count := range countings {
			if got, want := count(text[:at])+count(text[at:]), count(text); got != want {
				t.Fatalf("%s: %q has %d tokens, cut at %d it has %d", vocabularies[k].name, text, want, at, got)
			}
		}
	}
	if cuts < 500 {
		t.Errorf("%d texts were cut", cuts)
	}
}

// longPieces are runs that expressions do not cut, some with a period, some without.
func longPieces(r *rand.Rand) (all []string) {
	const n = 20_000
	for _, unit := range []string{"a", "ab", "abc", " ", "=", "-=", "Z", "the", "中", "\n", "😀", "ก็", "aaaaaaab", "helloworld"} {
		all = append(all, strings.Repeat(unit, n/len(unit)))
	}
	for _, letters := range []string{"ab", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "的一是不了人我在有他", "=-", " \t", "aaaaaaaaaaaaaaab"} {
		runes := []rune(letters)
		var b strings.Builder
		for b.Len() < n {
			b.WriteRune(runes[r.IntN(len(runes))])
		}
		all = append(all, b.String())
	}
	return all
}

// TestCountAtOnce has several goroutines count with one vocabulary.
func TestCountAtOnce(t *testing.T) {
	text := []byte(strings.Join(scripts, "\n"))
	want := O200K.Count(text)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if got := O200K.Count(text); got != want {
					t.Errorf("%d tokens, %d alone", got, want)
				}
			}
		})
	}
	group.Wait()
}

// TestAllocations counts again what is known, and what is not, without allocating.
func TestAllocations(t *testing.T) {
	text := []byte(strings.Join(append(longPieces(rand.New(rand.NewPCG(1, 1)))[:4], scripts...), "\n"))
	for _, v := range vocabularies {
		c := v.v.counting()
		n := 0
		if allocs := testing.AllocsPerRun(5, func() { n = c.text(v.v.next, text) }); allocs != 0 {
			t.Errorf("%s: %v allocations", v.name, allocs)
		}
		if want := v.v.Count(text); n != want {
			t.Errorf("%s: %d tokens, then %d", v.name, want, n)
		}
	}
}

// FuzzCount holds whatever texts there are to the oracle.
func FuzzCount(f *testing.F) {
	for _, text := range append(append([]string{}, scripts...), spices...) {
		f.Add(text)
	}
	judge := newJudge()
	f.Fuzz(func(t *testing.T, text string) {
		for _, count := range judge.count { // whatever bytes they are
			if n := count([]byte(text)); n > len(text) || n == 0 && text != "" {
				t.Fatalf("%d tokens of %d bytes", n, len(text))
			}
		}
		if text = strings.ToValidUTF8(text, "\ufffd"); len(text) < 1<<12 {
			judge.check(t, text)
		}
	})
}

// tokens are all tokens of the table, by rank.
func (t *table) tokens() (all []string) {
	for rank := range t.ends {
		all = append(all, t.token(uint32(rank)))
	}
	return all
}
