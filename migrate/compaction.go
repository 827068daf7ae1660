package migrate

// Compaction says what becomes of compaction entries that no patch stands for.
type Compaction string

// The forms that a compaction can have.
const (
	Auto      Compaction = "auto"      // the empty form too: Pair where the file replays by the envelope rules, else Native
	Native    Compaction = "native"    // as it is: only readers that know compaction entries see it
	Pair      Compaction = "pair"      // a patch, and the entry after it as its shadow: everybody sees one compaction
	Transform Compaction = "transform" // the patch alone, which current pi does not see
)

// Compactions are all forms.
var Compactions = []string{string(Auto), string(Native), string(Pair), string(Transform)}
