package stats_test

import (
	"database/sql"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"

	_ "ctxtool/sessionfmt/sqlite"
)

// usageRows sums the usage of the answers in a database: of the last version of each. A fork
// copies answers with their times.
const usageRows = `
WITH versions AS (
	SELECT aggregate_id, json_extract(data, '$.info.id') AS id, max(seq) AS seq FROM event
	WHERE type = 'message.updated.1' AND json_extract(data, '$.info.role') = 'assistant' GROUP BY 1, 2
), answers AS (
	SELECT DISTINCT json_extract(data, '$.info.time') AS time, json_extract(data, '$.info.tokens') AS tokens
	FROM event JOIN versions USING (aggregate_id, seq)
)
SELECT count(*), sum(json_extract(tokens, '$.input')),
	sum(json_extract(tokens, '$.output') + json_extract(tokens, '$.reasoning')),
	sum(json_extract(tokens, '$.cache.read')), sum(json_extract(tokens, '$.cache.write')) FROM answers`

// TestCostOfOpencode: the cost of a database's sessions is that of its rows, as SQL sums them.
func TestCostOfOpencode(t *testing.T) {
	for _, name := range testenv.NeedShared(t, "vectors/opencode/*/opencode.db") {
		db := must.Get(sql.Open("sqlite", "file:"+name+"?mode=ro&immutable=1"))
		defer db.Close()
		var want tally
		must.Do(db.QueryRow(usageRows).Scan(&want.calls, &want.input, &want.output, &want.read, &want.write))
		var sessions []string
		must.Do(sessionfmt.InDatabase(sessionfmt.Disk{}, name, func(session string, _ jsonl.Value, _ *dialect.Dialect, _ bool) {
			sessions = append(sessions, session)
		}))
		if got := uniqueCost(t, sessions); got != want || want.calls == 0 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
