package migrate

import (
	"slices"
	"strings"
	"testing"
)

// traps are those of the formats' descriptions that migrating could fall into.
var traps = []rule{
	{ // ids under a header without version are replaced, and the tree becomes a line; a label that names one dangles, as with pi
		name: "T10",
		in: []string{
			head1,
			`{"type":"custom","customType":"x","id":"a","parentId":null}`,
			`{"type":"custom","customType":"y","id":"b","parentId":"a"}`,
			`{"type":"custom","customType":"z","id":"c","parentId":"a"}`,
			`{"type":"label","id":"l","parentId":"c","targetId":"b","label":"here"}`, "",
		},
		out: []string{
			strings.TrimSuffix(head1, "}") + `,"version":3}`,
			`{"type":"custom","customType":"x","id":"ID1","parentId":null}`,
			`{"type":"custom","customType":"y","id":"ID2","parentId":"ID1"}`,
			`{"type":"custom","customType":"z","id":"ID3","parentId":"ID2"}`,
			`{"type":"label","id":"ID4","parentId":"ID3","targetId":"b","label":"here"}`,
		},
	}, { // the index counts records: the line that is broken is none
		name: "T11",
		in: []string{
			head1, "{broken", `{"type":"message","message":{"role":"user","content":"A"}}`, `{"type":"message","message":{"role":"user","content":"B"}}`,
			`{"type":"compaction","firstKeptEntryIndex":2,"summary":"S"}`, "",
		},
		out: []string{
			strings.TrimSuffix(head1, "}") + `,"version":3}`,
			`{"type":"message","message":{"role":"user","content":"A"},"id":"ID1","parentId":null}`,
			`{"type":"message","message":{"role":"user","content":"B"},"id":"ID2","parentId":"ID1"}`,
			`{"type":"compaction","summary":"S","id":"ID3","parentId":"ID2","firstKeptEntryId":"ID2"}`,
		},
		left: []string{"{broken"},
	}, { // an index that points forward, at the header or nowhere goes, and nothing comes in its place; one that is not a number stays
		name: "T12",
		in: []string{
			head1, `{"type":"message","message":{"role":"user","content":"A"}}`,
			`{"type":"compaction","firstKeptEntryIndex":3,"summary":"S"}`,
			`{"type":"compaction","summary":"S","firstKeptEntryIndex":0}`,
			`{"type":"compaction","firstKeptEntryIndex":-1.5e300,"summary":"S"}`,
			`{"type":"compaction","firstKeptEntryIndex":"1","summary":"S"}`,
			`{"type":"compaction","firstKeptEntryIndex":6,"summary":"S"}`, "",
		},
		out: []string{
			strings.TrimSuffix(head1, "}") + `,"version":3}`,
			`{"type":"message","message":{"role":"user","content":"A"},"id":"ID1","parentId":null}`,
			`{"type":"compaction","summary":"S","id":"ID2","parentId":"ID1"}`,
			`{"type":"compaction","summary":"S","id":"ID3","parentId":"ID2"}`,
			`{"type":"compaction","summary":"S","id":"ID4","parentId":"ID3"}`,
			`{"type":"compaction","firstKeptEntryIndex":"1","summary":"S","id":"ID5","parentId":"ID4"}`,
			`{"type":"compaction","summary":"S","id":"ID6","parentId":"ID5","firstKeptEntryId":"ID6"}`,
		},
	}, { // a hookMessage that continues as version 3 without the new role is lost to pi
		name: "T28",
		in:   []string{head2, `{"type":"message","id":"h","parentId":null,"message":{"role":"hookMessage","content":"H"}}`, ""},
		out:  []string{head3, `{"type":"message","id":"h","parentId":null,"message":{"role":"custom","content":"H"}}`},
	}, { // a compaction that keeps from another branch means two things, and no patch both
		name:   "T51",
		opt:    Options{Compaction: Pair},
		in:     []string{head3, userA, userB, strings.Replace(userC, `"b"`, `"a"`, 1), compaction("k", "c", "b", ""), ""},
		native: []string{"its first kept entry is not on the path before it"},
	}, { // an older agent gives an entry its id and sets the version back to 2: up again, only the version and the roles change
		name: "T52",
		in: []string{
			head2, userA, strings.Replace(userB, `"role":"user"`, `"role":"custom","customType":"t"`, 1),
			`{"type":"context_edit","id":"e","parentId":"b","targetId":"a","replacement":{"content":1.0}}`, compaction("k", "e", "b", ""), "",
		},
		out: []string{
			head3, userA, strings.Replace(userB, `"role":"user"`, `"role":"custom","customType":"t"`, 1),
			`{"type":"context_edit","id":"e","parentId":"b","targetId":"a","replacement":{"content":1.0}}`, compaction("k", "e", "b", ""),
		},
	},
}

func TestTraps(t *testing.T) {
	for _, tt := range traps {
		t.Run(tt.name, func(t *testing.T) {
			// ids that were made up stand for those that reading gives
			s := open(t, "s.jsonl", []byte(strings.Join(tt.in, "\n")))
			given := []string{}
			for i := range s.Len() {
				given = append(given, "ID"+string(rune('0'+i)), s.ID(i))
			}
			tt.out = slices.Clone(tt.out)
			for i, line := range tt.out {
				tt.out[i] = strings.NewReplacer(given...).Replace(line)
			}
			tt.check(t)
		})
	}
}
