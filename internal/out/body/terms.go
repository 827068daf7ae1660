package body

import (
	"cmp"
	"slices"
	"strings"

	"ctxtool/replay/models"
)

// chatTerms are what a host takes of Chat Completions: by the catalogue's flags, else by provider and host.
type chatTerms struct {
	store            bool   // takes store
	developer        bool   // the system prompt has the role developer
	effort           bool   // takes reasoning_effort
	usage            bool   // streams usage
	strict           bool   // has strict tools
	reasoningContent bool   // wants reasoning_content in every answer
	cached           bool   // marks for Anthropic's cache
	cacheKey         bool   // takes prompt_cache_key
	most             string // the field of the answer's limit
	thinking         string // how the level is asked for
}

// hosts are the hosts of Chat Completions that pi knows by provider or by a part of their address.
var hosts = []struct {
	name      string
	providers []string
	addresses []string
	unlike    bool   // OpenAI: takes no store
	most      bool   // takes max_tokens
	noEffort  bool   // takes no reasoning_effort
	thinking  string // how the level is asked for
}{
	{name: "zai", providers: []string{"zai", "zai-coding-cn"}, addresses: []string{"api.z.ai", "open.bigmodel.cn"},
		unlike: true, most: true, noEffort: true, thinking: "zai"},
	{name: "together", providers: []string{"together"}, addresses: []string{"api.together.ai", "api.together.xyz"},
		unlike: true, most: true, noEffort: true, thinking: "together"},
	{name: "moonshot", providers: []string{"moonshotai", "moonshotai-cn"}, addresses: []string{"api.moonshot."},
		unlike: true, most: true, noEffort: true},
	{name: "openrouter", providers: []string{"openrouter"}, addresses: []string{"openrouter.ai"}, thinking: "openrouter"},
	{name: "cloudflare workers", providers: []string{"cloudflare-workers-ai"}, addresses: []string{"api.cloudflare.com"},
		unlike: true},
	{name: "cloudflare gateway", providers: []string{"cloudflare-ai-gateway"},
		addresses: []string{"gateway.ai.cloudflare.com"}, unlike: true, most: true, noEffort: true},
	{name: "nvidia", providers: []string{"nvidia"}, addresses: []string{"integrate.api.nvidia.com"},
		unlike: true, most: true, noEffort: true},
	{name: "ant-ling", providers: []string{"ant-ling"}, addresses: []string{"api.ant-ling.com"},
		unlike: true, most: true, noEffort: true, thinking: "ant-ling"},
	{name: "cerebras", providers: []string{"cerebras"}, addresses: []string{"cerebras.ai"}, unlike: true},
	{name: "deepseek", providers: []string{"deepseek"}, addresses: []string{"deepseek.com"},
		unlike: true, most: true, thinking: "deepseek"},
	{name: "xai", providers: []string{"xai"}, addresses: []string{"api.x.ai"}, unlike: true, noEffort: true},
	{name: "chutes", addresses: []string{"chutes.ai"}, unlike: true, most: true},
	{name: "opencode", providers: []string{"opencode"}, addresses: []string{"opencode.ai"}, unlike: true},
}

// newChatTerms returns the terms of a model.
func newChatTerms(m models.Model, c models.Compat) chatTerms {
	host := strings.ToLower(m.Interface.Host)
	openAI := m.Provider == "openai" || strings.Contains(host, "api.openai.com")
	t := chatTerms{store: true, developer: openAI, effort: true, usage: true, cacheKey: strings.Contains(host,
		"api.openai.com"), most: "max_completion_tokens", thinking: "openai",
		cached: m.Provider == "openrouter" && strings.HasPrefix(m.ID, "anthropic/")}
	thinking := ""
	for _, h := range hosts {
		at := func(address string) bool { return strings.Contains(host, address) }
		if !slices.Contains(h.providers, m.Provider) && !slices.ContainsFunc(h.addresses, at) {
			continue
		}
		t.store, t.effort = t.store && !h.unlike, t.effort && !h.noEffort
		if h.most {
			t.most = "max_tokens"
		}
		if h.name == "deepseek" {
			t.reasoningContent, thinking = true, h.thinking // before others
		}
		thinking = cmp.Or(thinking, h.thinking)
	}
	for _, flag := range []struct {
		of  *bool
		set *bool
	}{
		{&t.store, c.SupportsStore}, {&t.developer, c.SupportsDeveloperRole}, {&t.effort, c.SupportsReasoningEffort},
		{&t.usage, c.SupportsUsageInStreaming}, {&t.strict, c.SupportsStrictMode},
		{&t.reasoningContent, c.ReasoningContent},
	} {
		if flag.set != nil {
			*flag.of = *flag.set
		}
	}
	t.most = cmp.Or(c.MaxTokensField, t.most)
	t.thinking = cmp.Or(c.ThinkingFormat, thinking, t.thinking)
	if c.CacheControlFormat != "" {
		t.cached = c.CacheControlFormat == "anthropic"
	}
	if c.PromptCacheKeyMode != "" && c.PromptCacheKeyMode != "auto" {
		t.cacheKey = c.PromptCacheKeyMode == "enabled"
	}
	return t
}

// orTrue returns a flag that is true where it is not set.
func orTrue(flag *bool) bool { return flag == nil || *flag }

// is reports whether a flag is set and true.
func is(flag *bool) bool { return flag != nil && *flag }
