package agents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"ctxtool/internal/out/body"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A Part is a part of a request that is compared.
type Part int

// The parts.
const (
	System   Part = iota // the texts of the prompt
	Tools                // whole, in their order
	Messages             // without marks for the cache
	Thinking             // how much of it the request asks for
	Options              // all other members, but for those that no record has
	Cache                // the places of the marks
	parts
)

// PartNames are the names of the parts.
var PartNames = [parts]string{"system", "tools", "messages", "thinking", "options", "cache"}

// A Comparison is a request that was sent, beside what is replayed of it.
type Comparison struct {
	Script  string
	Played  string // the version that was played
	Version string // the one that the session names, if it does
	Model   string
	N       int
	Summary bool // the request asks for a summary
	Hidden  bool // something that is in no file changes it
	Equal   [parts]bool
	Claim   dialect.Certainty
	Used    rule.Set
	Asked   rule.Asked
	Left    [parts]bool   // parts that are not compared: what was sent has another form than the agent's own
	Unlike  [parts]string // how the parts begin to differ
}

// Overstated returns the parts that are called exact and are not equal.
func (c *Comparison) Overstated() (names []string) {
	for p, claim := range []string{System: c.Claim.System, Tools: c.Claim.Tools, Messages: c.Claim.Messages} {
		if claim == "exact" && !c.Equal[p] && !c.Left[p] {
			names = append(names, PartNames[p])
		}
	}
	return names
}

// Compare compares the requests of a recording with what its sessions replay to. lost are those whose answer is in no
// session.
func Compare(of *Agent, dir string, interfaceOf string) (all []Comparison, lost []*Request) {
	at, replays := map[string][]*answer{}, map[string]*replay.Replay{}
	by := playedBy(dir)
	for _, q := range ReadRecording(dir) {
		home := homeAt(dir, q.Step)
		if _, ok := at[home]; !ok {
			at[home] = answersIn(of, home)
		}
		a := match(q, at[home])
		if a == nil && q.Summary {
			a = summaryOf(q, at[home])
		}
		if a == nil {
			lost = append(lost, q)
			continue
		}
		if replays[a.file] == nil {
			s := must.Get(sessionfmt.Open(a.file, sessionfmt.Options{}))
			defer s.Close()
			replays[a.file] = replay.New(s, replay.Options{})
		}
		c := compare(of, q, replays[a.file], a.rec, interfaceOf)
		for p, name := range PartNames {
			c.Left[p] = c.Left[p] || by.Parts != nil && !slices.Contains(by.Parts, name)
		}
		c.Script, c.Played = filepath.Base(dir), or(by.Version, c.Version)
		c.Hidden = by.Hidden != ""
		all = append(all, c)
	}
	return all, lost
}

// compare compares one request with what its answer's place replays to.
func compare(of *Agent, q *Request, r *replay.Replay, rec int, interfaceOf string) (c Comparison) {
	e := must.Get(r.At(sessionfmt.Before(rec)))
	reading, err := e.Reading()
	must.Do(err)
	ref := must.Get(e.ModelRef())
	var was object
	must.Do(json.Unmarshal(unattributed(jsonl.Value(q.Body)), &was))
	if q.Beta != "" { // a header; records have it as a member
		was["betas"] = strings.Split(q.Beta, ",")
	}
	c = Comparison{N: q.N, Version: r.Session.WrittenBy(), Model: q.model(was), Used: e.Rules(),
		Asked: rule.Asked{Host: ref.Provider, Model: ref.ID}}
	if reading.Certainty != nil {
		c.Claim = *reading.Certainty
	}
	sent, own := or(q.Interface, messagesForm), or(interfaceOf, of.Native)
	got := written(e, or(own, sent), interfaceOf == "" && of.Native != "")
	of.clean(or(own, sent), got)
	c.Summary = of.clean(sent, was) || q.Summary
	if own != "" && own != sent {
		got, was, sent = asMessages(own, got), asMessages(sent, was), messagesForm
		c.Left = [parts]bool{Tools: true, Thinking: true, Options: true, Cache: true}
	}
	for p := range parts {
		if c.Left[p] {
			continue
		}
		a, b := forms[sent].part(got, p), forms[sent].part(was, p)
		if c.Equal[p] = reflect.DeepEqual(a, b); !c.Equal[p] {
			c.Unlike[p] = unlike(a, b, "")
		}
	}
	return c
}

// model returns the model that a request asks.
func (q *Request) model(body object) string {
	if q.Interface == geminiForm {
		return geminiAPI.asked(q.URL, body).model
	}
	return word(body, "model")
}

// written returns the body of an envelope in a form. Where there is none, it has the reason in place of
// messages. Of an agent whose own messages the envelope has in no body, it is these alone, as it is where no
// model is named yet.
func written(e *replay.Envelope, of string, alone bool) (got object) {
	if ref := must.Get(e.ModelRef()); alone || !ref.Known() && e.Replay().Session.Dialect() != nil {
		all := []any{}
		add := func(raw []byte, err error) {
			must.Do(err)
			var one any
			must.Do(json.Unmarshal(raw, &one))
			all = append(all, one)
		}
		for item, err := range e.Native() {
			add(item, err)
		}
		for m, err := range e.ProviderMessages() {
			if e.Replay().Session.Dialect() == nil { // else they are those
				add(m.Raw, err)
			}
		}
		return object{forms[of].list: all}
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	at := slices.IndexFunc(body.Forms, func(f *body.Form) bool { return f.Name == of })
	if err := body.Forms[at].Write(w, e); err != nil {
		return object{forms[of].list: err.Error()}
	}
	w.Flush()
	must.Do(json.Unmarshal(b.Bytes(), &got))
	return got
}

func asBlocks(content any) any {
	if t, ok := content.(string); ok {
		return []any{object{"type": "text", "text": t}}
	}
	return content
}

func texts(content any) (all []string) {
	blocks, _ := asBlocks(content).([]any)
	for _, b := range blocks {
		all = append(all, fmt.Sprint(b.(object)["text"]))
	}
	return all
}

// marks adds the places of marks for the cache.
func marks(v any, at string, all *[]string) {
	switch v := v.(type) {
	case []any:
		for k, e := range v {
			marks(e, fmt.Sprintf("%s/%d", at, k), all)
		}
	case object:
		for name, e := range v {
			if name == "cache_control" {
				*all = append(*all, fmt.Sprintf("%s %v", at, e))
			} else {
				marks(e, at+"/"+name, all)
			}
		}
	}
}

// unlike returns how two values begin to differ.
func unlike(got, want any, at string) string {
	switch g := got.(type) {
	case []any:
		w, ok := want.([]any)
		for k := 0; ok && k < max(len(g), len(w)); k++ {
			switch {
			case k >= len(g):
				return fmt.Sprintf("%s/%d: nothing, and sent was %.400s", at, k, must.Get(json.Marshal(w[k])))
			case k >= len(w):
				return fmt.Sprintf("%s/%d: %.400s, and nothing was sent", at, k, must.Get(json.Marshal(g[k])))
			case !reflect.DeepEqual(g[k], w[k]):
				return unlike(g[k], w[k], fmt.Sprintf("%s/%d", at, k))
			}
		}
	case object:
		w, ok := want.(object)
		for name := range w {
			if ok && !reflect.DeepEqual(g[name], w[name]) {
				return unlike(g[name], w[name], at+"/"+name)
			}
		}
		for name := range g {
			if _, has := w[name]; ok && !has {
				return fmt.Sprintf("%s/%s: %.200v, and nothing was sent", at, name, g[name])
			}
		}
	case string:
		if w, ok := want.(string); ok {
			k := 0
			for k < min(len(g), len(w)) && g[k] == w[k] {
				k++
			}
			return fmt.Sprintf("%s: %.200q at %d, and sent was %.200q", at, g[max(0, k-20):], k, w[max(0, k-20):])
		}
	}
	return fmt.Sprintf("%s: %.400s, and sent was %.400s", at, must.Get(json.Marshal(got)), must.Get(json.Marshal(want)))
}
