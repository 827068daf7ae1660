// Package ledger holds the requests of a session as data: the messages, each measured once, the prompts, and
// the requests in file order, each linked to the one before it on its branch. Lenses are functions of a ledger;
// none replays entries or measures messages itself.
//
// A ledger holds no texts. One parallel pass reads each message of an entry, and one walk of the tree finds
// what each request had. Lists of messages share memory (replay.Messages), so requests that change little take
// little.
//
// # Lists of messages
//
// Messages are numbered. A walk keeps each message once, in a pool; lists hold numbers in blocks of 256, and
// share the blocks of a common beginning. A compaction takes a range of the list without compactions, from
// which the first one has removed system messages in place. Edits, patches and compactions make new messages. A
// derived list shares all blocks but the last 16 without copying their places, so 40,000 compactions or edits
// take about 1 KB each.
//
// A list is a version and a length. While entries only append, all requests of a branch share a version;
// another branch, an edit or a cut makes a new one, which shares unchanged blocks. Messages measured by record
// are not read again; others are measured when the walk meets them.
//
// # Prompts
//
// A prompt is two lists, of parts and of tools, without texts. They share memory with earlier ones (treaps in
// the order of the prompt), so a changed part makes few new nodes. Hash and tokens are combined from those of
// the parts. The hash is a polynomial, so the same text in other parts has the same hash. Comparing two prompts
// only visits what they do not share; a text is read again from its entry when needed.
//
// # Views
//
// A view of a request is its messages as a provider gets them: later system messages in place, or in the
// prompt. Positions and sums skip blocks: the sum of a block is computed once for all lists.
//
// # Memory
//
// For a session of 1 GB with 593,000 entries and 247,000 requests, a ledger takes 8 bytes of content hash, 8 of
// sizes and 9 of the pool per entry, and 88 per request. Values that most requests share (model, prompt,
// thinking level) are stored once, as a Setting. The account of a cache adds 44 bytes per request.
package ledger
