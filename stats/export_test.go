package stats

// What the tests outside of the package name.
type (
	Compacting = compacting
	Cost       = costDollars
	CostCalls  = costCalls
	CostSum    = costSum
	CostTokens = costTokens
)

func (p *CostPart) Sum() CostSum { return p.costSum }

func (r *costRow) Keys() costKeys { return r.costKeys }
