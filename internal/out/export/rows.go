package export

// Rows are the rows of one session, by table. What a file cannot tell is null. Texts are redacted
// unless that is switched off.
type Rows struct {
	Agent, Date string // of the session, which begin the rows of forms without partitions

	Sessions    []Session    `table:"sessions"`
	Requests    []Request    `table:"requests"`
	Messages    []Message    `table:"messages"`
	ToolCalls   []ToolCall   `table:"tool_calls"`
	Compactions []Compaction `table:"compactions"`
	Findings    []Finding    `table:"findings"`
	Contents    []Content    `table:"contents"`

	unread bool     // the session cannot be read
	bases  []string // the files that it continues
}

// A Session is a session file, or a session of a database. Sums are those of all its branches.
type Session struct {
	// key that joins the tables: 16 hexadecimal digits
	Session string `parquet:"session,dict"`
	// of the header; copies of a session share it
	SessionID    string  `parquet:"session_id"`
	Path         string  `parquet:"path"`               // of the file
	AgentVersion *string `parquet:"agent_version,dict"` // that wrote the header
	// certainty of its messages: `exact`, `rule` or `absent`
	Fidelity string `parquet:"fidelity,dict"`
	Project  string `parquet:"project,dict"` // the folder in which the agent worked
	// its name, else the first words of its first prompt
	Title string `parquet:"title"`
	// the session that it was forked from, as the header names it
	Parent *string `parquet:"parent"`
	// time of the first message, else of the header
	StartedAt *int64 `parquet:"started_at,timestamp(millisecond)"`
	EndedAt   *int64 `parquet:"ended_at,timestamp(millisecond)"` // time of the last message
	Bytes     int64  `parquet:"bytes"`                           // of the file
	Entries   int64  `parquet:"entries"`                         // of all kinds
	Messages  int64  `parquet:"messages"`                        // entries that are messages
	Prompts   int64  `parquet:"prompts"`                         // of the user
	Requests  int64  `parquet:"requests"`                        // that models answered
	Calls     int64  `parquet:"calls"`                           // of models; the rows of `requests`
	// of these, copies from another session, or repeated in this one
	Copies        int64   `parquet:"copies"`
	ToolCalls     int64   `parquet:"tool_calls"`     // the rows of `tool_calls`
	ToolErrors    int64   `parquet:"tool_errors"`    // of these, those that failed
	Branches      int64   `parquet:"branches"`       // leaves of its tree
	Compactions   int64   `parquet:"compactions"`    // the rows of `compactions`
	Model         *string `parquet:"model,dict"`     // `provider/id`, that the path was on last
	ContextTokens *int64  `parquet:"context_tokens"` // size of the context at the leaf
	WindowTokens  *int64  `parquet:"window_tokens"`  // of that model
	// of all calls without copies: neither read from a cache nor written to one
	InputTokens      int64    `parquet:"input_tokens"`
	CacheReadTokens  int64    `parquet:"cache_read_tokens"`  // likewise, read from a cache
	CacheWriteTokens int64    `parquet:"cache_write_tokens"` // likewise, written to one
	OutputTokens     int64    `parquet:"output_tokens"`      // likewise, of the answers
	CostUSD          float64  `parquet:"cost_usd"`           // likewise, as recorded, else by the table of prices
	UnpricedCalls    int64    `parquet:"unpriced_calls"`     // of which nobody tells a cost
	PromptTokens     int64    `parquet:"prompt_tokens"`      // of the answered requests
	CouldReadTokens  int64    `parquet:"could_read_tokens"`  // of these, what a cache could have served
	RebilledTokens   int64    `parquet:"rebilled_tokens"`    // of these, what was billed again
	RebilledUSD      float64  `parquet:"rebilled_usd"`       // their cost beyond reading them from the cache
	HitRate          *float64 `parquet:"hit_rate"`           // share of `prompt_tokens` that was read from the cache
	Errors           int64    `parquet:"errors"`             // findings that are errors
	Warnings         int64    `parquet:"warnings"`           // findings that are warnings
	// there is an error, or the file cannot be read or replayed to the end
	Damaged bool    `parquet:"damaged"`
	Error   *string `parquet:"error"` // why it cannot be read, or where its replay stopped
}

// A Request is a call of a model: an answer, also of a sub-agent in the session's file, or a call inside of a tool,
// for a summary, or to keep a cache warm. What only a replay can say is null of all but answers that the replay reached.
type Request struct {
	Session string `parquet:"session,dict"`
	// its number in the session, from 0, in the order of the file
	Request int64  `parquet:"request"`
	EntryID string `parquet:"entry_id"` // that records it
	Line    int64  `parquet:"line"`     // of that entry, from 1
	// `answer`, `tool`, `summary`, `warming`, `other`, or `subagent` for all calls of sub-agents
	Kind string `parquet:"kind,dict"`
	// a hash that copies of a call share, unless their id and time differ
	CallKey int64 `parquet:"call_key"`
	// in no sum: a copy from another session, or of an earlier call
	Copy       bool    `parquet:"copy"`
	ResponseID *string `parquet:"response_id"`                       // the provider's
	At         *int64  `parquet:"written_at,timestamp(millisecond)"` // when its entry was written
	Provider   string  `parquet:"provider,dict"`                     // as the entry names it
	// `provider/id`, as `ctxtool stats` names it
	Model      string  `parquet:"model,dict"`
	StopReason *string `parquet:"stop_reason,dict"` // why the answer ended
	LatencyMS  *int64  `parquet:"latency_ms"`       // from the entry before it on its branch
	// as recorded: neither read from a cache nor written to one
	InputTokens        int64    `parquet:"input_tokens"`
	CacheReadTokens    int64    `parquet:"cache_read_tokens"`     // read from a cache
	CacheWriteTokens   int64    `parquet:"cache_write_tokens"`    // written to one
	CacheWrite1hTokens int64    `parquet:"cache_write_1h_tokens"` // of these, those kept for an hour
	OutputTokens       int64    `parquet:"output_tokens"`         // of the answer
	CostUSD            *float64 `parquet:"cost_usd"`              // as recorded, else by the table of prices
	// `billed` by the provider, `estimated` by the agent, `computed` from the table
	CostSource      *string `parquet:"cost_source,dict"`
	RequestNo       *int64  `parquet:"request_no"`       // number on its branch, from 0, as in commands
	Previous        *int64  `parquet:"previous"`         // number of the request before it on its branch
	OnPath          bool    `parquet:"on_path"`          // it is on the path to the leaf
	WindowNo        int64   `parquet:"window_no"`        // compactions before it on its branch
	ContextTokens   *int64  `parquet:"context_tokens"`   // size of its context before the answer
	EstimatedTokens *int64  `parquet:"estimated_tokens"` // of these, not recorded by a provider
	WindowTokens    *int64  `parquet:"window_tokens"`    // window of the model
	Messages        *int64  `parquet:"messages"`         // that it had
	SystemTokens    *int64  `parquet:"system_tokens"`    // counted: the system prompt; null if not recorded
	ToolsTokens     *int64  `parquet:"tools_tokens"`     // counted: tool definitions; null if not recorded
	// counted: prompts, shell commands, messages of extensions
	UserTokens      *int64  `parquet:"user_tokens"`
	AnswerTokens    *int64  `parquet:"answer_tokens"`        // counted: earlier answers
	ResultTokens    *int64  `parquet:"result_tokens"`        // counted: results of tools
	SummaryTokens   *int64  `parquet:"summary_tokens"`       // counted: summaries of compactions and branches
	KeptMessages    *int64  `parquet:"kept_messages"`        // leading messages shared with the request before it
	FreshTokens     *int64  `parquet:"fresh_tokens"`         // counted: messages new in this request
	SharedTokens    *int64  `parquet:"prefix_shared_tokens"` // the longest prefix that a cache could serve
	CouldReadTokens *int64  `parquet:"could_read_tokens"`    // served by a cache that keeps every prefix
	RebilledTokens  int64   `parquet:"rebilled_tokens"`      // sent before and billed again
	RebilledUSD     float64 `parquet:"rebilled_usd"`         // their cost beyond reading them from the cache
	// of the rebilled: cached, but not served by the provider
	UnservedTokens int64   `parquet:"unserved_tokens"`
	BreakCause     *string `parquet:"break_cause,dict"`       // why the prefix ended, as in `ctxtool cache`
	BreakEntryID   *string `parquet:"break_entry_id"`         // the entry that ended it
	BreakSection   *string `parquet:"break_section,dict"`     // the section or tool of the prompt at which it ended
	PauseSeconds   *int64  `parquet:"pause_s"`                // of a break by a pause
	MissReason     *string `parquet:"cache_miss_reason,dict"` // the provider's own reason
}

// A Message is a message as requests have it: that of an entry, or one that an entry made by a
// compaction, an edit or a patch.
type Message struct {
	Session  string  `parquet:"session,dict"`
	EntryID  string  `parquet:"entry_id"`  // that has its text
	ParentID *string `parquet:"parent_id"` // the entry before that one
	Line     int64   `parquet:"line"`      // of that entry, from 1
	// the compaction, edit or patch that made it; null for the message of an entry
	MadeBy *string `parquet:"made_by,dict"`
	Role   string  `parquet:"role,dict"`                         // in the session
	At     *int64  `parquet:"written_at,timestamp(millisecond)"` // of the entry
	OnPath bool    `parquet:"on_path"`                           // the entry is on the path to the leaf
	Bytes  int64   `parquet:"bytes"`                             // of its JSON as the provider gets it
	Tokens int64   `parquet:"tokens"`                            // counted
	// the first request (`request` in `requests`) that had it
	FirstRequest *int64   `parquet:"first_request"`
	LastRequest  *int64   `parquet:"last_request"`     // of the last one; of several branches, on the path to the leaf
	Requests     int64    `parquet:"requests"`         // that had it, on all branches
	RemovedBy    *string  `parquet:"removed_by,dict"`  // the entry that removed it from the path's context
	RemovedHow   *string  `parquet:"removed_how,dict"` // `compacted`, `edited` or `patched`
	CarriedUSD   *float64 `parquet:"carried_usd"`      // its cost as input of all these requests
	SHA256       *string  `parquet:"sha256"`           // of its text; null without contents
}

// A ToolCall is a call of a tool.
type ToolCall struct {
	Session string `parquet:"session,dict"`
	CallID  string `parquet:"call_id"`                           // the provider's
	EntryID string `parquet:"entry_id"`                          // the answer that calls it
	Request *int64 `parquet:"request"`                           // that it answers, as `request` in `requests`
	At      *int64 `parquet:"written_at,timestamp(millisecond)"` // of that entry
	OnPath  bool   `parquet:"on_path"`                           // the answer is on the path to the leaf
	Tool    string `parquet:"tool,dict"`                         // its name
	// `read`, `search`, `edit`, `write`, `run` or `ask`, where that is known
	Action    *string `parquet:"action,dict"`
	Subject   string  `parquet:"subject"`    // its command, pattern or file in a few words
	ArgsBytes int64   `parquet:"args_bytes"` // JSON of its arguments, as it stands in the file
	// `ok`, `error`, `blocked`, `skipped`, `aborted` or `unanswered`
	Outcome       string  `parquet:"outcome,dict"`
	DurationMS    *int64  `parquet:"duration_ms"`     // from the answer to the result
	ResultEntryID *string `parquet:"result_entry_id"` // that has the result
	ResultBytes   int64   `parquet:"result_bytes"`    // JSON of the result's content, as it stands in the file
	ResultTokens  *int64  `parquet:"result_tokens"`   // counted
	// whether a later answer uses something that only this result said; null if none follows
	Used       *bool    `parquet:"used"`
	Requests   int64    `parquet:"requests"`            // that had the result
	CarriedUSD *float64 `parquet:"cumulative_cost_usd"` // its cost as input of all of them
	// the entry that removed it from the path's context
	RemovedBy *string `parquet:"removed_by,dict"`
}

// A Compaction is a compaction of any branch. Sizes and losses are null of those that are not on the
// path to the leaf.
type Compaction struct {
	Session   string `parquet:"session,dict"`
	EntryID   string `parquet:"entry_id"`                          // of the compaction
	Line      int64  `parquet:"line"`                              // of that entry, from 1
	Kind      string `parquet:"kind,dict"`                         // type of the entry
	At        *int64 `parquet:"written_at,timestamp(millisecond)"` // of the entry
	OnPath    bool   `parquet:"on_path"`                           // it is on the path to the leaf
	RequestNo *int64 `parquet:"request_no"`                        // the next request on its branch
	// `automatic`, `manual` or `overflow` if recorded, `overflow (inferred)` after an answer that failed
	// for its length, or `unknown`
	Trigger         *string  `parquet:"trigger,dict"`
	Hook            *bool    `parquet:"hook"`                // an extension made the summary
	RecordedTokens  *int64   `parquet:"recorded_tokens"`     // before it, as its entry records
	BeforeTokens    *int64   `parquet:"tokens_before"`       // counted, of the context before it
	AfterTokens     *int64   `parquet:"tokens_after"`        // counted, of the context after it
	NextTokens      *int64   `parquet:"next_tokens"`         // recorded for the next request
	Summarized      *int64   `parquet:"summarized_messages"` // that the summary replaces
	Kept            *int64   `parquet:"kept_messages"`       // after the summary
	KeptFrom        *string  `parquet:"kept_from"`           // the entry of the first of these
	Split           *bool    `parquet:"split_turn"`          // the first of these is within a turn
	Loop            *bool    `parquet:"loop"`                // part of a loop that frees nothing
	Constraints     *int64   `parquet:"constraints"`         // demands of the user in the replaced messages
	LostConstraints *int64   `parquet:"lost_constraints"`    // of these, those that the summary lacks
	LostFailures    *int64   `parquet:"lost_failures"`       // open failures that it lacks
	LostPaths       *int64   `parquet:"lost_paths"`          // files that it lacks
	LostCommands    *int64   `parquet:"lost_commands"`       // commands that it lacks
	Lost            *string  `parquet:"lost"`                // the first demand that it lacks
	SummaryBytes    *int64   `parquet:"summary_bytes"`       // of the summary's JSON as the provider gets it
	CostUSD         *float64 `parquet:"cost_usd"`            // of making the summary, if recorded
}

// A Finding is a finding of `ctxtool check`, or the reason why a session cannot be read.
type Finding struct {
	Session  string  `parquet:"session,dict"`
	Rule     string  `parquet:"rule,dict"`     // the code of the [check](checks/README.md), or `unreadable`
	Severity string  `parquet:"severity,dict"` // `error`, `warning` or `info`
	Line     *int64  `parquet:"line"`          // of the file, from 1
	EntryID  *string `parquet:"entry_id"`      // that has the damage
	Text     string  `parquet:"text"`          // one sentence
	Fix      string  `parquet:"fix,dict"`      // what helps
}

// A Content is the text of messages, each once in a session.
type Content struct {
	Session string `parquet:"session,dict"`
	SHA256  string `parquet:"sha256"` // of the text, as `messages` has it
	Text    string `parquet:"text"`   // texts, thinking, calls with arguments, sizes of images
}
