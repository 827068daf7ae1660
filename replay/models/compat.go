package models

import "encoding/json"

// An Interface is the way a provider offers a model: its protocol, its host, and what the host accepts beyond
// the plain protocol.
type Interface struct {
	API  string // in the spelling of pi's sessions, such as "anthropic-messages"; empty if unknown
	Host string // host of its address, such as "api.anthropic.com"
	text string // a Compat as JSON
}

// Compat returns the flags of the model. The zero Compat has none.
func (i Interface) Compat() (c Compat) {
	if i.text != "" {
		if err := json.Unmarshal([]byte(i.text), &c); err != nil {
			panic("models: built-in table: " + err.Error())
		}
	}
	return c
}

// Compat holds the flags of pi's catalogue for one model at one provider, under the catalogue's names: how its
// requests differ from others of the same protocol. A flag that is nil follows from the protocol and the host.
type Compat struct {
	// Anthropic's Messages
	// thinking by effort, not by a budget
	ForceAdaptiveThinking bool `json:"forceAdaptiveThinking,omitempty"`
	// unsigned thinking stays thinking
	AllowEmptySignature bool `json:"allowEmptySignature,omitempty"`
	// answer in its place
	AllowedFallbackModels []Fallback `json:"allowedFallbackModels,omitempty"`
	// strict schemas
	SupportsStrictTools bool `json:"supportsStrictTools,omitempty"`
	// tools added and removed in place
	SupportsMidConvoToolChanges bool `json:"supportsMidConvoToolChanges,omitempty"`
	// true if nil
	SupportsEagerToolInputStreaming *bool `json:"supportsEagerToolInputStreaming,omitempty"`
	// true if nil
	SupportsCacheControlOnTools *bool `json:"supportsCacheControlOnTools,omitempty"`
	// true if nil
	SupportsTemperature *bool `json:"supportsTemperature,omitempty"`

	// all protocols
	// system messages in place
	SupportsMidConvoSystemMessages bool `json:"supportsMidConvoSystemMessages,omitempty"`
	// levels in place
	SupportsMidConvoEffort bool `json:"supportsMidConvoEffort,omitempty"`

	// OpenAI's Responses
	// tools in place, also changed ones
	SupportsAdditionalTools bool `json:"supportsAdditionalTools,omitempty"`
	// tools in place, as found by a search
	SupportsToolSearch bool `json:"supportsToolSearch,omitempty"`
	// has no retention
	SupportsExplicitPromptCacheMode bool `json:"supportsExplicitPromptCacheMode,omitempty"`
	// tools with a grammar
	SupportsOpenAIGrammarTools bool `json:"supportsOpenAIGrammarTools,omitempty"`
	// true if nil
	SupportsMaxOutputTokens *bool `json:"supportsMaxOutputTokens,omitempty"`
	// strict schemas
	SupportsStrictMode *bool  `json:"supportsStrictMode,omitempty"`
	PromptCacheKeyMode string `json:"promptCacheKeyMode,omitempty"`

	// Chat Completions
	SupportsStore           *bool `json:"supportsStore,omitempty"`
	SupportsDeveloperRole   *bool `json:"supportsDeveloperRole,omitempty"`
	SupportsReasoningEffort *bool `json:"supportsReasoningEffort,omitempty"`
	// true if nil
	SupportsUsageInStreaming      *bool           `json:"supportsUsageInStreaming,omitempty"`
	SupportsMidConvoToolAdditions bool            `json:"supportsMidConvoToolAdditions,omitempty"`
	MaxTokensField                string          `json:"maxTokensField,omitempty"`
	ThinkingFormat                string          `json:"thinkingFormat,omitempty"`
	CacheControlFormat            string          `json:"cacheControlFormat,omitempty"`
	ZaiToolStream                 bool            `json:"zaiToolStream,omitempty"`
	ReasoningContent              *bool           `json:"requiresReasoningContentOnAssistantMessages,omitempty"`
	ChatTemplateArgs              json.RawMessage `json:"chatTemplateArgs,omitempty"`

	// of headers and of caches kept longer, which pi's sessions do not record
	SendSessionAffinityHeaders *bool  `json:"sendSessionAffinityHeaders,omitempty"`
	SessionAffinityFormat      string `json:"sessionAffinityFormat,omitempty"`
	SupportsLongCacheRetention *bool  `json:"supportsLongCacheRetention,omitempty"`
}

// A Fallback is a model that answers if another one does not.
type Fallback struct {
	Model string `json:"model"`
}

// InPlace describes whether changes of settings are sent within the conversation, so that everything before
// them stays cached, or before it.
type InPlace struct {
	System bool  // later system messages are sent in place
	Tools  Tools // how later changes of tools are sent
	Level  bool  // thinking levels are sent in place
}

// Tools is the way in which changes of tools are sent.
type Tools uint8

const (
	Listed  Tools = iota // the request lists the current tools
	Added                // added tools are sent in place; after a removal the request lists all remaining ones
	Changed              // all changes are sent in place
)

// InPlace returns what pi sends in place to the model: nothing if the table lacks it.
func (i Interface) InPlace() (p InPlace) {
	c := i.Compat()
	p.System = c.SupportsMidConvoSystemMessages
	p.Level = c.SupportsMidConvoEffort
	if !p.System {
		return p
	}
	switch {
	case i.API == "anthropic-messages" && c.SupportsMidConvoToolChanges, c.SupportsAdditionalTools:
		p.Tools = Changed
	case c.SupportsToolSearch, c.SupportsMidConvoToolAdditions:
		p.Tools = Added
	}
	return p
}
