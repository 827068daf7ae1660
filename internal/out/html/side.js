// The tree of the session, its filters, and the search.
import { byId, count, el, line } from './dom.js'
import { subject } from './entry.js'
import { has } from './model.js'
import { nameOf } from './talk.js'
import { Windowed } from './windowed.js'

const rowHeight = 26
const settings = new Set(['label', 'custom', 'model_change', 'thinking_level_change', 'session_info', 'context_edit', 'usage', 'session', 'scalar'])

// filters select the entries that the tree shows; those of docs/session-format.md 2.5.
const filters = {
  default: (m, row) => !settings.has(m.kind(row)) && !mute(m, row),
  'no-tools': (m, row) => !settings.has(m.kind(row)) && m.kind(row) !== 'toolResult' && !mute(m, row),
  user: (m, row) => m.kind(row) === 'user',
  labeled: (m, row) => m.labels.has(row),
  context: (m, row) => ['compaction', 'context_transform', 'context_edit', 'ephemeral', 'system', 'branch_summary', 'model_change', 'thinking_level_change'].includes(m.kind(row)),
  all: () => true,
}

// mute reports whether an answer has no text; the leaf is shown anyway.
const mute = (m, row) => m.kind(row) === 'assistant' && !(m.index.has[row] & (has.text | has.error)) && row !== m.head.leaf

export class Side {
  constructor(app) {
    this.app = app
    this.model = app.model
    this.filter = 'default'
    this.words = []
    this.found = null
    this.scroller = byId('tree-scroll')
    this.list = new Windowed(this.scroller, byId('tree-space'), { draw: i => this.item(i), fixed: rowHeight, over: 200 })
    byId('filter').addEventListener('change', e => { this.filter = e.target.value; this.refresh() })
    byId('search').addEventListener('input', e => this.search(e.target.value))
    this.scroller.addEventListener('keydown', e => this.key(e))
    this.scroller.addEventListener('click', e => {
      const node = e.target.closest('[data-row]')
      if (node) this.app.goto(+node.dataset.row, { from: 'tree' })
    })
  }

  // follow draws the tree with the branch to another leaf first.
  follow(leaf) {
    this.order = this.model.order(leaf)
    this.refresh()
  }

  refresh() {
    const { rows, depths } = this.order, show = filters[this.filter]
    this.rows = []
    this.depths = []
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]
      if (this.found ? !this.found.has(row) : !show(this.model, row)) continue
      this.rows.push(row)
      this.depths.push(depths[i])
    }
    this.place = new Map(this.rows.map((row, i) => [row, i]))
    this.list.set(this.rows.length)
    byId('shown').textContent = this.found ? `${count(this.rows.length, 'match').replace('matchs', 'matches')}` : `${this.rows.length.toLocaleString('en-US')} of ${rows.length.toLocaleString('en-US')}`
    this.active()
  }

  item(i) {
    const { app, model } = this, row = this.rows[i], kind = model.kind(row), label = model.labels.get(row)
    const selected = row === app.row
    const node = el('div', {
      class: `node kind-${kind.replace(/\s/g, '-')}${app.onPath(row) ? ' on' : ''}${selected ? ' selected' : ''}`, role: 'treeitem', id: 'tree-' + row, 'data-row': row,
      'aria-level': this.depths[i] + 1, 'aria-selected': String(selected), css: { '--depth': Math.min(this.depths[i], 12) },
    }, el('span', { class: 'dot', 'aria-hidden': 'true' }), el('span', { class: 'node-kind' }, this.kindOf(row, kind)))
    if (label) node.append(el('span', { class: 'tag label' }, line(label, 24)))
    if (model.notes.has(row)) node.append(el('span', { class: 'tag warn' }, '!'))
    node.append(el('span', { class: 'node-text', dir: 'auto' }, this.textOf(row, kind)))
    return node
  }

  // kindOf returns the kind of an entry; for a result, the tool.
  kindOf(row, kind) {
    const name = kind === 'toolResult' && (this.app.store.peek(row)?.message?.toolName || this.callOf(row)?.name)
    return typeof name === 'string' && name ? line(name, 24) : nameOf(kind)
  }

  callOf(row) { return this.app.talk.callOf(row, this.app.store.peek(row)?.message?.toolCallId) }

  // textOf returns the text of an entry; for a result, the subject of the call.
  textOf(row, kind) {
    const { app } = this
    const text = app.gistNow(row, () => this.list.redraw(this.place.get(row)))
    if (kind !== 'toolResult') return text
    const call = this.callOf(row)
    return (call && line(app.near(subject(call)), 120)) || text
  }

  // active updates what is shown of the selection.
  active() {
    for (const [i, node] of this.list.shown) {
      const row = this.rows[i], selected = row === this.app.row
      node.classList.toggle('selected', selected)
      node.classList.toggle('on', this.app.onPath(row))
      node.setAttribute('aria-selected', String(selected))
    }
    const at = this.place.get(this.app.row)
    if (at !== undefined && this.list.shown.has(at)) this.scroller.setAttribute('aria-activedescendant', 'tree-' + this.app.row)
    else this.scroller.removeAttribute('aria-activedescendant')
  }

  // show scrolls to an entry, or to the nearest one above it that the filter selects.
  show(row) {
    for (let up = row; up >= 0; up = this.model.up[up]) {
      const i = this.place.get(up)
      if (i !== undefined) { this.list.show(i, 'nearest'); break }
    }
    this.active()
  }

  key(e) {
    if (e.altKey || e.ctrlKey || e.metaKey) return
    let i = this.place.get(this.app.row) ?? 0
    const page = Math.max(1, this.scroller.clientHeight / rowHeight - 2 | 0)
    const moves = { ArrowDown: i + 1, ArrowUp: i - 1, PageDown: i + page, PageUp: i - page, Home: 0, End: this.rows.length - 1 }
    if (!(e.key in moves) || !this.rows.length) return
    e.preventDefault()
    i = Math.max(0, Math.min(this.rows.length - 1, moves[e.key]))
    this.app.goto(this.rows[i], { from: 'tree' })
  }

  // search finds entries that have all words, chunk by chunk, so that the page stays
  // responsive.
  search(text) {
    clearTimeout(this.soon)
    const words = text.toLowerCase().split(/\s+/).filter(Boolean)
    this.run = (this.run || 0) + 1
    this.done = false
    if (!words.length) {
      this.words = []
      this.found = null
      this.app.highlight([])
      this.refresh()
      this.show(this.app.row)
      return
    }
    this.soon = setTimeout(() => this.look(words, this.run), 120)
  }

  async look(words, run) {
    const { app, model } = this
    this.words = words
    this.found = new Set()
    const raw = words.map(w => JSON.stringify(w).slice(1, -1))
    app.highlight(words)
    let drawn = performance.now()
    for (let chunk = 0; chunk < app.store.first.length; chunk++) {
      const first = app.store.first[chunk]
      if (first >= model.entries) break
      const lines = await app.store.load(chunk)
      if (run !== this.run) return
      for (let i = 0; i < lines.length && first + i < model.entries; i++) {
        if (this.says(first + i, lines[i], words, raw)) this.found.add(first + i)
      }
      if (performance.now() - drawn > 200) { // so that the first ones are shown at once
        this.refresh()
        await new Promise(done => setTimeout(done))
        drawn = performance.now()
      }
    }
    if (run !== this.run) return
    this.done = true
    this.refresh()
  }

  // says reports whether an entry's texts, id, kind or label have the words.
  says(row, text, words, raw) {
    const { model } = this
    const about = `${model.id(row)} ${model.kind(row)} ${nameOf(model.kind(row))} ${model.labels.get(row) || ''}`.toLowerCase()
    const open = words.filter((w, k) => !about.includes(w))
    if (!open.length) return true
    const low = text.toLowerCase()
    if (!words.every((w, k) => about.includes(w) || low.includes(raw[k]))) return false
    let value
    try { value = JSON.parse(text) } catch { return true }
    const texts = []
    strings(value, texts, 0)
    const all = texts.join('\n').toLowerCase()
    return open.every(w => all.includes(w))
  }

  // step goes to the next or the previous match.
  step(by) {
    if (!this.found || !this.rows.length) return
    const i = this.place.get(this.app.row)
    const next = i === undefined ? 0 : (i + by + this.rows.length) % this.rows.length
    this.app.goto(this.rows[next], { from: 'tree' })
  }
}

const named = new Set(['type', 'role', 'stopReason', 'provider', 'mimeType', 'data', 'id', 'toolCallId'])

// strings collects the texts of a row that a reader sees.
function strings(value, out, depth) {
  if (depth > 60) return
  if (typeof value === 'string') out.push(value)
  else if (Array.isArray(value)) for (const x of value) strings(x, out, depth + 1)
  else if (value && typeof value === 'object') for (const name in value) if (!named.has(name)) strings(value[name], out, depth + 1)
}
