package stats

import "ctxtool/sessionfmt"

// callRecord are what a record says of a call of a model; absent is nil. All are
// valid during the call only.
type callRecord struct {
	Kind     sessionfmt.Kind
	ID, Time sessionfmt.Value // of the entry

	Usage, Provider, Model sessionfmt.Value
	Response, ResponseID   sessionfmt.Value // the model that answered, and the provider's id
	Tool                   sessionfmt.Value // whose result it is
	For                    sessionfmt.Value // kind of a usage entry
}

// callPick names what callFields takes, in its order: of entries that hold their usage
// themselves, and of messages.
var callPick = sessionfmt.Pick{
	Record:  []string{"usage", "provider", "model", "kind"},
	Message: []string{"usage", "provider", "model", "responseModel", "responseId", "toolName"},
}

func callFields(p *sessionfmt.Picked) callRecord {
	f := callRecord{Kind: p.Kind, ID: p.ID, Time: p.Timestamp}
	if v := p.Message; p.Kind.IsMessage() {
		f.Usage, f.Provider, f.Model, f.Response, f.ResponseID, f.Tool = v[0], v[1], v[2], v[3], v[4], v[5]
		return f
	}
	v := p.Record
	f.Usage, f.Provider, f.Model, f.For = v[0], v[1], v[2], v[3]
	return f
}

// Paid says that the record counts as a call (spec/pi-1.5.md 8). An answer does, and
// a usage entry, even if it says nothing of what it used.
func (f *callRecord) Paid() bool {
	switch f.Kind {
	case sessionfmt.Assistant, sessionfmt.UsageEntry:
		return true
	case sessionfmt.ToolResult, sessionfmt.Compaction, sessionfmt.BranchSummary:
		return f.Usage.IsObject()
	}
	return false
}

// named says that the record can tell which model was called.
func (f *callRecord) named() bool {
	return f.Kind == sessionfmt.Assistant || f.Kind == sessionfmt.UsageEntry
}

// modelName is how pi lists the model of a call: by the provider, and by the model
// that answered, where the record says which it was.
func (f *callRecord) modelName() string {
	if !f.named() {
		return otherModels
	}
	name := f.Model.Text()
	if !f.Response.IsNull() {
		name = f.Response.Text()
	}
	if p := f.Provider.Text(); p != "" {
		return p + "/" + name
	}
	return name
}

// otherModels is what pi's list of models calls the work of tools and summaries, of
// which no record says which model did it.
const otherModels = "Tools/summaries"
