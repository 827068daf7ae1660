package sessionfmt

// A Kind is what an entry is: its type and, for a message, its role.
type Kind uint8

// The kinds of entries. Messages by role come first.
const (
	System Kind = iota
	User
	Assistant
	ToolResult
	Bash              // message with role bashExecution
	Custom            // message with role custom
	HookMessage       // message with role hookMessage; reads as Custom below version 3
	BranchMessage     // message with the stored role branchSummary
	CompactionMessage // message with the stored role compactionSummary
	TransformMessage  // message with role contextTransform, transcript only
	OtherMessage      // message with a role that nobody knows
	NoMessage         // message entry without a message object

	Compaction
	BranchSummary
	CustomMessage
	CustomEntry
	ContextEdit
	Transform // context_transform
	Ephemeral
	ModelChange
	ThinkingChange
	Label
	SessionInfo
	UsageEntry
	Header  // a session record; only the first is the header
	Unknown // an object of a type that nobody knows
	Scalar  // a JSON value that is no object
)

// kinds holds every kind's entry type and role, in the order of the constants.
var kinds = [...]struct{ typ, role string }{
	System:            {"message", "system"},
	User:              {"message", "user"},
	Assistant:         {"message", "assistant"},
	ToolResult:        {"message", "toolResult"},
	Bash:              {"message", "bashExecution"},
	Custom:            {"message", "custom"},
	HookMessage:       {"message", "hookMessage"},
	BranchMessage:     {"message", "branchSummary"},
	CompactionMessage: {"message", "compactionSummary"},
	TransformMessage:  {"message", "contextTransform"},
	OtherMessage:      {"message", ""},
	NoMessage:         {"message", ""},
	Compaction:        {"compaction", ""},
	BranchSummary:     {"branch_summary", ""},
	CustomMessage:     {"custom_message", ""},
	CustomEntry:       {"custom", ""},
	ContextEdit:       {"context_edit", ""},
	Transform:         {"context_transform", ""},
	Ephemeral:         {"ephemeral", ""},
	ModelChange:       {"model_change", ""},
	ThinkingChange:    {"thinking_level_change", ""},
	Label:             {"label", ""},
	SessionInfo:       {"session_info", ""},
	UsageEntry:        {"usage", ""},
	Header:            {"session", ""},
}

// Type is the entry type as pi writes it, empty for Unknown and Scalar.
func (k Kind) Type() string {
	if int(k) < len(kinds) {
		return kinds[k].typ
	}
	return ""
}

// Role is a message's role as pi writes it, empty where it is none of the known
// ones.
func (k Kind) Role() string {
	if int(k) < len(kinds) {
		return kinds[k].role
	}
	return ""
}

// IsMessage says that the entry is of type message, with or without a message
// in it.
func (k Kind) IsMessage() bool { return k <= NoMessage }

// IsEntry says that the record is part of the tree.
func (k Kind) IsEntry() bool { return k != Header && k != Scalar }

// Replaceable says that a context_edit can give a message of that kind other
// content (spec/pi-1.5.md 4.5).
func (k Kind) Replaceable() bool {
	switch k {
	case User, Assistant, ToolResult, Custom, CustomMessage:
		return true
	}
	return false
}

// String names the kind for people: a message by its role, else the type.
func (k Kind) String() string {
	switch {
	case k == Unknown:
		return "unknown"
	case k == Scalar:
		return "scalar"
	case k == NoMessage:
		return "message without message"
	case k == OtherMessage:
		return "message of unknown role"
	case k.Role() != "":
		return k.Role()
	}
	return k.Type()
}

// KindNames are the names that String gives to the kinds of entries, in order.
func KindNames() []string {
	var names []string
	for k := System; k <= Unknown; k++ {
		if k.IsEntry() && k.Type() != "" && (k.Role() != "" || k > NoMessage) || k == Unknown {
			names = append(names, k.String())
		}
	}
	return names
}

// RoleKind is the kind of a message whose role the value is.
func (v Value) RoleKind() Kind {
	for k := System; k < OtherMessage; k++ {
		if v.Is(kinds[k].role) {
			return k
		}
	}
	return OtherMessage
}

// typeKind is the kind of an entry of that type that is no message.
func typeKind(typ Value) Kind {
	for k := Compaction; k <= Header; k++ {
		if typ.Is(kinds[k].typ) {
			return k
		}
	}
	return Unknown
}
