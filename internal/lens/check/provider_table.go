package check

// rules lists what providers refuse, by check. A new one is a row here, with its source on the page of its check.
var rules = []rule{
	{code: "refused-pairs", provider: anthropic, find: unanswered, mended: true,
		quote: "messages.{m}: `tool_use` ids were found without `tool_result` blocks immediately after: {it}. Each " +
			"`tool_use` block must have a corresponding `tool_result` block in the next message."},
	{code: "refused-pairs", provider: anthropic, find: strays,
		quote: "messages.{m}.content.{b}: unexpected `tool_use_id` found in `tool_result` blocks: {it}. Each " +
			"`tool_result` block must have a corresponding `tool_use` block in the previous message."},
	{code: "refused-pairs", provider: anthropic, find: doubled,
		quote: "messages.{m}.content.{b}: each tool_use must have a single result. Found multiple `tool_result` " +
			"blocks with id: {it}"},
	{code: "refused-pairs", provider: anthropic, find: sameIDs,
		quote: "messages.{m}.content.{b}: `tool_use` ids must be unique"},
	{code: "refused-pairs", provider: openai, find: unanswered, mended: true,
		quote: "No tool output found for function call {it}."},
	{code: "refused-pairs", provider: openai, find: strays,
		quote: "No tool call found for function call output with call_id {it}."},
	{code: "refused-pairs", provider: google, find: unanswered, mended: true,
		quote: "Please ensure that the number of function response parts is equal to the number of function call " +
			"parts of the function call turn."},
	{code: "refused-pairs", provider: google, find: strays,
		quote: "Please ensure that function response turn comes immediately after a function call turn."},
	{code: "refused-pairs", provider: google, find: doubled,
		quote: "Please ensure that the number of function response parts is equal to the number of function call " +
			"parts of the function call turn."},

	{code: "refused-empty", provider: anthropic, find: emptyTexts, mended: true, always: true,
		quote: "messages: text content blocks must be non-empty"},
	{code: "refused-empty", provider: anthropic, find: blankTexts, mended: true, always: true,
		quote: "messages: text content blocks must contain non-whitespace text"},
	{code: "refused-empty", provider: anthropic, find: hollow, mended: true,
		quote: "messages.{m}: all messages must have non-empty content except for the optional final assistant " +
			"message"},
	{code: "refused-empty", provider: google, find: hollow, mended: true,
		quote: "* GenerateContentRequest.contents[{m}].parts: contents.parts must not be empty."},
	{code: "refused-empty", provider: google, find: emptyTexts, mended: true,
		quote: "* GenerateContentRequest.contents[{m}].parts[{b}].data: required oneof field 'data' must have one " +
			"initialized field"},

	{code: "refused-turn", provider: anthropic, find: answerFirstAtBedrock,
		quote: `messages: first message must use the "user" role`},
	{code: "refused-turn", provider: google, find: callFirst,
		quote: "Please ensure that function call turn comes immediately after a user turn or after a function " +
			"response turn."},

	{code: "refused-thinking", provider: anthropic, find: unsigned, mended: true,
		quote: "messages.{m}.content.{b}.thinking.signature: Field required"},
	{code: "refused-thinking", provider: anthropic, find: repeatedThinking,
		quote: "messages.{m}.content.{b}: `thinking` or `redacted_thinking` blocks in the latest assistant message " +
			"cannot be modified. These blocks must remain as they were in the original response."},
	{code: "refused-thinking", provider: anthropic, find: thinkingLater,
		quote: "messages.{m}.content.{b}: If an assistant message contains any thinking blocks, the first block " +
			"must be `thinking` or `redacted_thinking`. Found `{it}`."},
	{code: "refused-thinking", provider: openai, find: loneReasoning,
		quote: "Item '{it}' of type 'reasoning' was provided without its required following item."},

	{code: "refused-image", provider: anthropic, find: over5MB,
		quote: "messages.{m}.content.{b}.image.source.base64: image exceeds 5 MB maximum: {it} bytes > 5242880 bytes"},
	{code: "refused-image", provider: anthropic, find: otherTypes,
		quote: "messages.{m}.content.{b}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', " +
			"'image/gif' or 'image/webp'"},
	{code: "refused-image", provider: anthropic, find: mistyped,
		quote: "messages.{m}.content.{b}.image.source.base64: The image was specified using the {it} image"},
	{code: "refused-image", provider: anthropic, find: wider8000,
		quote: "messages.{m}.content.{b}.image.source.base64.data: At least one of the image dimensions exceed max " +
			"allowed size: 8000 pixels"},
	{code: "refused-image", provider: anthropic, find: widerOfMany,
		quote: "messages.{m}.content.{b}.image.source.base64.data: At least one of the image dimensions exceed max " +
			"allowed size for many-image requests: 2000 pixels"},
	{code: "refused-image", provider: anthropic, find: over100Images,
		quote: "Too much media: 0 document pages + {it} images > 100"},
	{code: "refused-image", provider: openai, find: otherTypes,
		quote: "You uploaded an unsupported image. Please make sure your image has of one the following formats: " +
			"['png', 'jpeg', 'gif', 'webp']."},
	{code: "refused-image", provider: google, find: newerTypes,
		quote: "Unsupported MIME type: {it}"},

	{code: "refused-name", provider: anthropic, find: namesOf128,
		quote: "messages.{m}.content.{b}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"},
	{code: "refused-name", provider: anthropic, find: badIDs, mended: true,
		quote: "messages.{m}.content.{b}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
	{code: "refused-name", provider: anthropic, find: noObjects,
		quote: "messages.{m}.content.{b}.tool_use.input: Input should be a valid dictionary"},
	{code: "refused-name", provider: openai, find: namesOf64,
		quote: "Invalid 'input[{m}].name': string does not match pattern. Expected a string that matches the " +
			"pattern '^[a-zA-Z0-9_-]+$'."},
	{code: "refused-name", provider: openai, find: idsOver64,
		quote: "Invalid 'input[{m}].call_id': string too long. Expected a string with maximum length 64, but got a " +
			"string with length {it} instead."},
	{code: "refused-name", provider: google, find: misnamedStart,
		quote: "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, " +
			"0-9), underscores (_), dots (.) or dashes (-), with a maximum length of 64."},

	{code: "refused-size", provider: anthropic, find: tooLong,
		quote: "prompt is too long: {it} maximum"},
	{code: "refused-size", provider: openai, find: tooLong,
		quote: "Your input exceeds the context window of this model. Please adjust your input and try again."},
	{code: "refused-size", provider: google, find: tooLong,
		quote: "The input token count exceeds the maximum number of tokens allowed: {it}."},
	{code: "refused-size", provider: anthropic, find: tooLarge,
		quote: "Request exceeds the maximum size"},
	{code: "refused-size", provider: google, find: tooLarge,
		quote: "Request payload size exceeds the limit: {it} bytes."},

	{code: "refused-text", provider: anthropic, find: loneSurrogates, mended: true,
		quote: "The request body is not valid JSON: no low surrogate in string"},
	{code: "refused-text", provider: openai, find: loneSurrogates, mended: true,
		quote: "We could not parse the JSON body of your request."},
}
