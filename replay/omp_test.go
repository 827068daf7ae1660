package replay_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestOhMyPi holds what is replayed to the requests that oh-my-pi 18.2.3 sent, in the order of their answers:
// testdata/oh-my-pi has the texts of ours, and a hash and length in place of each other one over 60 bytes. Left
// out are the reminder of date and folder before the first prompt and the pictures of an archive, which are in
// no file. A request that differs came before a result was rewritten in the file, which is reported.
func TestOhMyPi(t *testing.T) {
	folders := must.Get(filepath.Glob("testdata/oh-my-pi/*"))
	all, equal := 0, 0
	for _, folder := range folders {
		requests := corpus.Requests[struct {
			N        int
			Messages [][]string
		}](t, folder)
		s := must.Get(sessionfmt.Open(filepath.Join(folder, "session.jsonl"), sessionfmt.Options{}))
		defer s.Close()
		n, same := 0, 0
		for rec := range s.Len() {
			if !s.Answers(rec) {
				continue
			}
			r := replay.New(s, replay.Options{})
			e := must.Get(r.At(sessionfmt.Before(rec)))
			if n >= len(requests) {
				t.Fatalf("%s: %d requests, and more answers", folder, n)
			}
			sent := requests[n]
			n++
			reading, err := e.Reading()
			must.Do(err)
			is := reflect.DeepEqual(skeleton(t, e), sent.Messages)
			if is {
				same++
			}
			rewritten := slices.ContainsFunc(r.Findings, func(f sessionfmt.Finding) bool { return f.Code == "result-rewritten" })
			if named := slices.Contains(reading.Certainty.Uncompared, "rewritten result"); named != rewritten {
				t.Errorf("%s: request %d: the certainty names a rewritten result: %t", folder, sent.N, named)
			}
			if !is && !rewritten {
				t.Errorf("%s: request %d:\n%v\nwant:\n%v", folder, sent.N, skeleton(t, e), sent.Messages)
			}
			if reading.Certainty.Messages == "exact" {
				t.Errorf("%s: request %d: exact, and no file names the version", folder, sent.N)
			}
		}
		if n != len(requests) {
			t.Errorf("%s: %d answers for %d requests", folder, n, len(requests))
		}
		t.Logf("%s: %d requests, %d equal", filepath.Base(folder), n, same)
		all, equal = all+n, equal+same
	}
	if all < 70 || equal < 60 {
		t.Errorf("%d requests compared, %d equal", all, equal)
	}
	t.Logf("%d requests, %d equal", all, equal)
}

// skeleton returns the messages of a request as testdata/oh-my-pi has them: role, texts, calls.
func skeleton(t *testing.T, e *replay.Envelope) (all [][]string) {
	t.Helper()
	for raw, err := range e.ProviderMessages() {
		must.Do(err)
		m := raw.Raw.Message()
		if m.Kind == jsonl.System {
			continue
		}
		one := []string{raw.Raw.Get("role").Text()}
		for _, b := range m.Blocks {
			switch text := b.Text.Exact(); {
			case b.Kind == jsonl.TextBlock && text != "":
				if len(text) > 60 {
					text = fmt.Sprintf("sha256:%x (%d)", sha256.Sum256([]byte(text)), len(text))
					text = text[:len("sha256:")+16] + text[len("sha256:")+64:]
				}
				one = append(one, text)
			case b.Kind == jsonl.CallBlock:
				var args map[string]any
				must.Do(json.Unmarshal(b.Args, &args))
				var sorted bytes.Buffer
				must.Do(json.NewEncoder(&sorted).Encode(args))
				one = append(one, b.Name.Text()+" "+string(bytes.TrimSpace(sorted.Bytes())))
			}
		}
		all = append(all, one)
	}
	return all
}
