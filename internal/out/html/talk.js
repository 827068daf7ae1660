// The transcript: the entries of the path, one below the other.
import { byId, copy, count, dollars, el, icon, line, moment, percent, short } from './dom.js'
import { Drawer } from './entry.js'
import { Windowed } from './windowed.js'

const quiet = new Set(['label', 'usage', 'session', 'scalar'])
const slim = new Set(['model_change', 'thinking_level_change', 'session_info'])
const mostRows = 100_000 // of a list: browsers limit the height of boxes
const earlier = -2, later = -3

const names = {
  user: 'User', assistant: 'Assistant', toolResult: 'Tool', bashExecution: 'Shell', custom: 'Message', custom_message: 'Message', hookMessage: 'Message',
  compaction: 'Compaction', branch_summary: 'Branch summary', context_edit: 'Edit', context_transform: 'Transform', ephemeral: 'Request only',
  model_change: 'Model', thinking_level_change: 'Thinking', session_info: 'Name', system: 'System', unknown: 'Unknown',
}
export const nameOf = kind => Object.hasOwn(names, kind) ? names[kind] : kind[0].toUpperCase() + kind.slice(1)

export class Talk {
  constructor(app) {
    this.app = app
    this.model = app.model
    this.calls = new Map()
    this.drawer = new Drawer({
      model: app.model, near: text => app.near(text), call: (row, id) => this.callOf(row, id), answered: row => this.unanswered(row), goto: row => app.goto(row),
    })
    this.drawer.redraw = row => this.redraw(row)
    this.list = new Windowed(byId('talk-scroll'), byId('talk-space'), {
      draw: i => this.item(this.rows[i]), guess: i => this.guess(this.rows[i]),
    })
  }

  // follow shows another path.
  follow(path) {
    const { model } = this
    this.all = path.filter(row => !quiet.has(model.kind(row)) || model.notes.has(row))
    if (this.onlyContext) this.all = this.all.filter(row => this.state(row) !== 'gone')
    if (model.notes.has(-1)) this.all.push(-1)
    this.places = new Map(this.all.map((row, i) => [row, i]))
    this.stretch(0)
  }

  // stretch sets the list to the entries from one on, as many as a browser can scroll, with
  // buttons to those before and after.
  stretch(from) {
    this.rows = this.all.slice(from, from + mostRows)
    if (from > 0) this.rows.unshift(earlier)
    if (from + mostRows < this.all.length) this.rows.push(later)
    this.from = from
    this.place = new Map(this.rows.map((row, i) => [row, i]))
    this.list.set(this.rows.length)
  }

  // more returns a button to the entries before or after the list.
  more(row) {
    const next = row === earlier ? Math.max(0, this.from - mostRows / 2) : Math.min(this.all.length - 1, this.from + mostRows / 2)
    const there = row === earlier ? this.from - 1 : this.from + mostRows
    return el('article', { class: 'item', 'data-row': row, 'aria-label': 'More' }, el('button', { class: 'unfold', type: 'button', onclick: () => { this.stretch(next); this.show(this.all[there]) } }, row === earlier ? 'Earlier entries' : 'Later entries'))
  }

  // guess returns about how high an entry is before it is drawn.
  guess(row) {
    if (row < 0) return 60
    const kind = this.model.kind(row), size = 4 * this.model.index.tokens[row] + 60
    if (slim.has(kind)) return 32
    const lines = kind === 'toolResult' ? Math.min(13, 2 + size / 60) : 2 + size / 90
    return 46 + Math.min(60, lines) * 21
  }

  // state returns whether the selected request has an entry: in, gone, or later.
  state(row) {
    const { app, model } = this
    if (app.step < 0) return ''
    if (app.within[row]) return 'in'
    const k = model.kind(row)
    if (!['user', 'assistant', 'toolResult', 'bashExecution', 'custom_message', 'custom', 'branch_summary', 'compaction'].includes(k)) return ''
    return app.pos[row] > app.pos[model.steps.leaf[app.step]] ? 'later' : 'gone'
  }

  item(row) {
    const { app, model } = this
    if (row === earlier || row === later) return this.more(row)
    if (row < 0) return el('article', { class: 'item', 'data-row': row, 'aria-label': 'Findings' }, this.notes(row))
    const kind = model.kind(row)
    const box = el('article', { class: `item kind-${kind.replace(/\s/g, '-')} ${slim.has(kind) ? 'slim' : ''} ${this.state(row)}`, 'data-row': row, 'data-form': app.forms.get(row), id: 'entry-' + model.id(row), 'aria-label': `${nameOf(kind)} ${model.id(row)}` })
    if (row === app.row) box.classList.add('current')
    if (this.hits?.has(row)) box.classList.add('hit')
    box.append(...this.notes(row))
    box.append(this.head(row, kind))
    const value = app.store.peek(row)
    if (value !== undefined) box.append(...this.body(row, kind, value))
    else if (!app.store.here(row)) box.append(this.elsewhere(row))
    else {
      const rest = Math.max(0, this.list.heights[this.place.get(row)] - 46)
      box.append(el('div', { class: 'waiting', css: { height: rest + 'px' } }))
      app.store.row(row).then(() => this.redraw(row))
    }
    box.append(...this.ways(row))
    return box
  }

  body(row, kind, value) {
    if (slim.has(kind)) return []
    return [el('div', { class: 'body' }, this.drawer.entry(row, kind, value))]
  }

  // elsewhere returns a link to the page that has an entry.
  elsewhere(row) {
    return el('p', { class: 'note' }, 'This entry is on ', el('a', { href: this.app.pageOf(row) + '#entry-' + encodeURIComponent(this.model.id(row)) }, 'another page'), ' of the session.')
  }

  head(row, kind) {
    const { app, model } = this
    const id = model.id(row), step = model.stepOf[row], label = model.labels.get(row)
    const head = el('header', { class: 'item-head' }, el('span', { class: 'who' }, nameOf(kind)))
    if (slim.has(kind)) head.append(el('span', { class: 'slim-text', dir: 'auto' }, app.gistNow(row, () => this.redraw(row))))
    if (step >= 0) head.append(this.request(step, row))
    const edits = model.edits.get(row)
    if (edits) head.append(el('button', { class: 'tag edited', type: 'button', onclick: () => app.goto(edits[0]) }, 'edited later'))
    const form = app.forms.get(row)
    if (form !== undefined) head.append(el('button', { class: 'tag edited', type: 'button', title: 'The text in the selected request', onclick: () => app.context.compare(row, form) }, 'other text in context'))
    if (this.state(row) === 'gone') head.append(el('span', { class: 'tag out', title: 'Not in the selected request' }, 'not in context'))
    if (label) head.append(el('span', { class: 'tag label' }, line(label, 60)))
    head.append(el('span', { class: 'grow' }))
    const time = model.time(row)
    if (time !== undefined && !slim.has(kind)) head.append(el('time', { datetime: new Date(time).toISOString(), title: moment(time) + ' UTC' }, moment(time, false)))
    if (id) head.append(el('button', { class: 'quiet', type: 'button', 'aria-label': `Copy link to ${id}`, title: 'Copy link', onclick: () => copy(app.address(row)) }, icon('link')))
    return head
  }

  // request returns the figures of an answer's request, on a line that selects it.
  request(step, row) {
    const { app, model } = this, s = model.steps, c = model.cache[step], cost = model.index.cost[row]
    const facts = [short(model.size(step)) + ' tokens']
    if (c?.answered && c.prompt > 0) facts.push(percent((c.read || 0) / c.prompt) + ' cached')
    if (cost > 0) facts.push(dollars(cost))
    const bad = c?.break && c.break.again
    return el('button', { class: bad ? 'request broken' : 'request', type: 'button', 'data-step': step, title: 'What the model saw', onclick: () => app.select(step) },
      `request ${s.request[step]}`, el('span', { class: 'request-facts' }, ' · ' + facts.join(' · ')), bad && el('span', { class: 'breaks' }, `cache broken: ${c.break.cause}`))
  }

  notes(row) {
    return (this.model.notes.get(row) || []).map(f => el('p', { class: f.stopped ? 'note stopped' : 'note warn' }, icon('warn'), ' ',
      f.stopped ? el('strong', null, 'The replay stops here. ') : f.line ? el('span', { class: 'mute' }, `line ${f.line}: `) : null, line(f.text, 600),
      f.stopped ? ' The context is shown up to this entry.' : null))
  }

  // ways returns the branches from an entry other than the path's.
  ways(row) {
    const { model, app } = this
    const others = model.children(row).filter(c => !app.onPath(c))
    if (!others.length) return []
    return [el('p', { class: 'ways' }, el('span', { class: 'mute' }, count(others.length, 'other branch').replace('branchs', 'branches') + ' from here: '),
      others.slice(0, 8).map(c => el('button', { class: 'ref', type: 'button', onclick: () => app.goto(c) }, line(model.labels.get(c) || model.id(c), 30))))]
  }

  // callOf returns the call that a result belongs to, from the nearest answer above it. If that
  // is not unpacked yet, the entry is drawn again later.
  callOf(row, id) {
    const { app, model } = this
    const known = this.calls.get(row)
    if (known !== undefined) return known
    for (let up = model.up[row], n = 0; up >= 0 && n < 400; up = model.up[up], n++) {
      const kind = model.kind(up)
      if (kind === 'user') break
      if (kind !== 'assistant') continue
      const value = app.store.peek(up)
      if (value === undefined) {
        if (app.store.here(up)) app.store.row(up).then(() => this.redraw(row))
        return null
      }
      const content = value?.message?.content
      const call = Array.isArray(content) && content.find(b => b?.type === 'toolCall' && b.id === id)
      if (call) { this.calls.set(row, call); return call }
    }
    return null
  }

  // unanswered returns the calls of an answer without a result on the path.
  unanswered(row) {
    const { app, model } = this, open = new Set()
    const value = app.store.peek(row), content = value?.message?.content
    for (const b of Array.isArray(content) ? content : []) if (b?.type === 'toolCall') open.add(b.id)
    if (!open.size) return open
    for (let i = app.pos[row] + 1; i > 0 && i < app.path.length && open.size; i++) {
      const next = app.path[i], kind = model.kind(next)
      if (kind === 'assistant' || kind === 'user') break
      if (kind !== 'toolResult') continue
      const result = app.store.peek(next)
      if (result === undefined) {
        if (!app.store.here(next)) return new Set()
        app.store.row(next).then(() => this.redraw(row))
        return new Set()
      }
      open.delete(result?.message?.toolCallId)
    }
    return open
  }

  redraw(row) {
    const i = this.place.get(row)
    if (i !== undefined) this.list.redraw(i)
  }

  // mark updates what is shown to the selection.
  mark() {
    if (this.onlyContext) { const at = this.rows[this.list.at(this.list.scroller.scrollTop)]; this.follow(this.app.path); this.show(at) ; return }
    for (const i of [...this.list.shown.keys()]) {
      const row = this.rows[i], node = this.list.shown.get(i)
      const was = ['in', 'gone', 'later'].find(c => node.classList.contains(c)) || ''
      if (was !== (row < 0 ? '' : this.state(row)) || node.dataset.form !== this.app.forms.get(row)?.toString() || node.classList.contains('current') !== (row === this.app.row)) this.list.redraw(i)
    }
  }

  // show scrolls to an entry, or to the nearest one that is shown.
  show(row, where = 'start') {
    for (let up = row; up >= 0; up = this.model.up[up]) {
      if (!this.places.has(up)) continue
      if (!this.place.has(up)) this.stretch(Math.max(0, this.places.get(up) - mostRows / 2))
      const i = this.place.get(up)
      this.list.show(i, where)
      const node = this.list.shown.get(i)
      node?.classList.add('flash')
      setTimeout(() => this.list.shown.get(i)?.classList.remove('flash'), 1400)
      return
    }
  }

  // unfoldAll shows or hides all output, or all thinking.
  set(what, on) {
    this.drawer[what] = on
    for (const key of [...this.drawer.opened.keys()]) {
      if (what === 'thoughts' === key.endsWith(':think')) this.drawer.opened.delete(key)
    }
    for (const i of [...this.list.shown.keys()]) this.list.redraw(i)
  }
}
