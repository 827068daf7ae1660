// The data of a session: its tree, its requests, and the context of each.

export const has = { text: 1, error: 2, noTime: 4 }

// A Model reads the columns of index and steps. Rows are numbers of entries; those from
// entries on are messages of steps.extra, by their index.
export class Model {
  constructor(head, index, steps) {
    Object.assign(this, { head, index, steps })
    const n = this.entries = head.entries
    this.ids = n ? index.ids.split('\n') : []
    this.kindNumber = Object.fromEntries(head.kinds.map((name, k) => [name, k]))
    this.up = new Int32Array(n)
    this.times = new Float64Array(n)
    let time = 0
    for (let i = 0; i < n; i++) {
      this.up[i] = index.up[i] === 0 ? -1 : i - index.up[i]
      if (!(index.has[i] & has.noTime)) time += index.time[i]
      this.times[i] = index.has[i] & has.noTime ? NaN : time
    }
    this.link()
    this.mark()
    const c = steps.cache
    this.cache = c.prompt.map((prompt, k) => prompt === 0 ? null : {
      prompt, shared: c.shared[k], answered: c.answered[k] === 1, input: c.input[k], read: c.read[k], write: c.write[k], break: c.breaks?.[k], unserved: c.unserved?.[k],
    })
    this.stepOf = new Int32Array(n).fill(-1)
    steps.entry.forEach((row, k) => { if (row >= 0) this.stepOf[row] = k })
    this.lists = new Map()
    this.prompts = new Map()
  }

  // prompt returns the prompt of a step. The page has what differs from another one: changes of a list are
  // [index, number removed, added...], and their indexes those before all of them.
  prompt(step) {
    const { prompts, prompt } = this.steps, last = prompt[step]
    if (this.prompts.has(last)) return this.prompts.get(last)
    const chain = [], apply = list => {
      let all = []
      for (const p of chain) {
        for (const [at, gone, ...added] of p[list].toReversed()) {
          if (added.length < 1000) all.splice(at, gone, ...added)
          else all = all.slice(0, at).concat(added, all.slice(at + gone))
        }
      }
      return all
    }
    for (let i = last; i >= 0; i = prompts[i].from) chain.push(prompts[i])
    chain.reverse()
    const tools = apply('tools')
    const made = { ...prompts[last], parts: apply('parts').flat(), tools: tools.filter(x => x[1] >= 0), omitted: tools.filter(x => x[1] < 0) }
    if (this.prompts.size > 3) this.prompts.clear()
    this.prompts.set(last, made)
    return made
  }

  // counted returns the counted size of a step's context; used the size that the provider
  // recorded, or 0; size returns used, or else counted.
  counted(step) { const s = this.steps; return s.system[step] + s.tools[step] + s.messages[step] }
  used(step) {
    const now = this.steps.entry[step] < 0 && this.head.contextUsage
    if (now) return now.tokens
    const c = this.cache[step]
    return c ? (c.input || 0) + (c.read || 0) + (c.write || 0) : 0
  }
  size(step) { return this.used(step) || this.counted(step) }

  kind(row) { return this.head.kinds[row < this.entries ? this.index.kind[row] : this.steps.extra.kind[row - this.entries]] }
  id(row) { return this.ids[row] }
  time(row) { return Number.isNaN(this.times[row]) ? undefined : this.times[row] }
  isEntry(row) { const k = this.kind(row); return k !== 'session' && k !== 'scalar' }

  // link makes lists of children, in the order of the file, and finds the last entry of the
  // file below each. Parents may come after their children, and may form cycles.
  link() {
    const n = this.entries, roots = []
    this.first = new Int32Array(n).fill(-1)
    this.next = new Int32Array(n).fill(-1)
    this.tip = new Int32Array(n)
    for (let i = n - 1; i >= 0; i--) {
      const up = this.up[i]
      if (!this.isEntry(i)) continue
      if (up < 0 || up === i) roots.push(i)
      else { this.next[i] = this.first[up]; this.first[up] = i }
    }
    this.roots = roots.reverse()
    const seen = new Uint8Array(n), order = []
    const visit = root => {
      let from = order.length
      order.push(root); seen[root] = 1
      for (; from < order.length; from++) {
        for (let c = this.first[order[from]]; c >= 0; c = this.next[c]) if (!seen[c]) { seen[c] = 1; order.push(c) }
      }
    }
    this.roots.forEach(visit)
    for (let i = 0; i < n; i++) {
      if (!seen[i] && this.isEntry(i)) { this.cut(i); this.roots.push(i); visit(i) }
    }
    for (let k = order.length - 1; k >= 0; k--) {
      const i = order[k]
      this.tip[i] = Math.max(this.tip[i], i)
      for (let c = this.first[i]; c >= 0; c = this.next[c]) this.tip[i] = Math.max(this.tip[i], this.tip[c])
    }
  }

  // cut removes an entry from its parent, to break a cycle.
  cut(i) {
    const up = this.up[i]
    let before = -1
    for (let c = this.first[up]; c >= 0 && c !== i; c = this.next[c]) before = c
    if (before < 0) this.first[up] = this.next[i]
    else this.next[before] = this.next[i]
    this.next[i] = -1
    this.up[i] = -1
  }

  // mark collects what entries record about others, such as labels.
  mark() {
    this.labels = new Map()
    for (const [, target, text] of this.index.labels || []) {
      if (text) this.labels.set(target, text)
      else this.labels.delete(target)
    }
    this.edits = new Map()
    for (const [row, target] of this.index.edits || []) this.edits.set(target, [...this.edits.get(target) || [], row])
    this.notes = new Map()
    const note = (row, f) => this.notes.set(row, [...this.notes.get(row) || [], f])
    for (const f of this.head.findings || []) note(f.row, f)
    for (const f of this.head.stopped || []) note(f.row, { ...f, stopped: true })
  }

  // path returns the path from the root to a leaf.
  path(leaf) {
    const path = []
    const seen = new Uint8Array(this.entries)
    for (let i = leaf; i >= 0 && !seen[i]; i = this.up[i]) { seen[i] = 1; path.push(i) }
    return path.reverse()
  }

  children(row) {
    const all = []
    for (let c = this.first[row]; c >= 0; c = this.next[c]) all.push(c)
    return all
  }

  // order returns the tree from top to bottom, with the depth at which each entry is drawn:
  // only forks are indented. The branch to the leaf comes first.
  order(leaf) {
    const on = new Uint8Array(this.entries), rows = [], depths = []
    for (const row of this.path(leaf)) on[row] = 1
    const first = all => all.sort((a, b) => on[b] - on[a] || this.tip[b] - this.tip[a])
    const stack = first([...this.roots]).reverse().map(row => [row, 0])
    while (stack.length) {
      const [row, depth] = stack.pop()
      rows.push(row); depths.push(depth)
      const below = first(this.children(row))
      for (let k = below.length - 1; k >= 0; k--) stack.push([below[k], depth + (below.length > 1 ? 1 : 0)])
    }
    return { rows, depths }
  }

  // list returns the messages of a request, as rows.
  list(step) {
    const chain = []
    let at = step
    for (; at >= 0 && !this.lists.has(at); at = this.steps.before[at]) chain.push(at)
    let list = at >= 0 ? this.lists.get(at).slice() : []
    for (let k = chain.length - 1; k >= 0; k--) {
      const s = chain[k], plain = this.steps.list[s].every(x => typeof x === 'number')
      const was = plain ? list : list.slice()
      list.length = Math.min(list.length, this.steps.same[s])
      for (const x of this.steps.list[s]) {
        if (typeof x === 'number') list.push(x)
        else for (let i = 0; i < x[1]; i++) list.push(was[x[0] + i])
      }
      if (k === 0 || k % 512 === 0) this.keep(s, list.slice())
    }
    return chain.length ? this.lists.get(step) : list
  }

  keep(step, list) {
    this.lists.set(step, list)
    if (this.lists.size > 64) this.lists.delete(this.lists.keys().next().value)
  }

  // source returns the entry that a message comes from, also if it was rewritten.
  source(row) { return row < this.entries ? row : this.steps.extra.entry[row - this.entries] }
  madeBy(row) { return row < this.entries ? row : this.steps.extra.by[row - this.entries] }
  body(row) { return row < this.entries ? row : this.steps.extra.row[row - this.entries] }
  tokens(row) { return row < this.entries ? this.index.tokens[row] : this.steps.extra.tokens[row - this.entries] }

  // change returns how a request differs from the previous one: what was added, what was
  // removed, and what changed, as [was, is].
  change(step) {
    const is = this.list(step), before = this.steps.before[step]
    const was = before >= 0 ? this.list(before) : []
    let same = 0
    while (same < is.length && same < was.length && is[same] === was[same]) same++
    const count = new Map()
    for (let i = same; i < was.length; i++) count.set(was[i], (count.get(was[i]) || 0) + 1)
    const added = [], removed = [], changed = []
    for (let i = same; i < is.length; i++) {
      const n = count.get(is[i])
      if (n) count.set(is[i], n - 1)
      else added.push(is[i])
    }
    for (let i = same; i < was.length; i++) {
      const n = count.get(was[i])
      if (n) { removed.push(was[i]); count.set(was[i], n - 1) }
    }
    const bySource = new Map(removed.map(row => [this.source(row), row]))
    const fresh = added.filter(row => {
      const old = bySource.get(this.source(row))
      if (old === undefined || old === row) return true
      changed.push([old, row])
      bySource.delete(this.source(row))
      removed.splice(removed.indexOf(old), 1)
      return false
    })
    return { added: fresh, removed, changed, same, before, first: before < 0 }
  }
}
