// The context at the selected request: what the model saw, its size and cost, and what the
// cache served.
import { byId, clean, count, dollars, el, fill, icon, line, moment, percent, short, whole } from './dom.js'
import { difference, drawn, near, tally } from './diff.js'
import { Drawer, json, textOf } from './entry.js'
import { code } from './markdown.js'
import { nameOf } from './talk.js'
import { Windowed } from './windowed.js'

// categories of messages, by the kind of entry that they come from.
const categories = [
  ['system', 'System prompt'], ['tools', 'Tools'], ['user', 'User'], ['assistant', 'Assistant'], ['toolResult', 'Tool results'], ['summary', 'Summaries'], ['other', 'Other'],
]
const categoryOf = kind => ({
  user: 'user', assistant: 'assistant', toolResult: 'toolResult', compaction: 'summary', branch_summary: 'summary', compactionSummary: 'summary', branchSummary: 'summary', system: 'system',
}[kind] || 'other')

// unrecorded tells which of system prompt and tools no record of the session has.
const unrecorded = p => ({ system: !p.known && !p.parts.length, tools: (!p.known || p.noTools) && !p.tools.length && !p.omitted.length })

const why = {
  model: 'the model changed', system: 'the system prompt changed', tools: 'the tools changed', thinking: 'the thinking level changed',
  compaction: 'messages were summarised', edit: 'an edit changed a message', transform: 'a transform changed messages', branch: 'the previous request was on another branch',
  ephemeral: 'the previous request ended with request-only messages', uncached: 'the uncached messages at the end moved', pause: 'the cache had expired', unknown: 'unknown cause',
}

export class Context {
  constructor(app) {
    Object.assign(this, { app, model: app.model, box: byId('context-body'), tab: 'overview' })
    this.list = new Windowed(byId('messages-scroll'), byId('messages-space'), { draw: i => this.message(i), fixed: 28, over: 300 })
    this.rows = []
    this.fresh = new Set()
    byId('earlier').addEventListener('click', () => app.by(-1))
    byId('later').addEventListener('click', () => app.by(1))
    const tabs = [...document.querySelectorAll('#tabs [role=tab]')]
    for (const tab of tabs) {
      tab.addEventListener('click', () => this.open(tab.dataset.tab))
      tab.addEventListener('keydown', e => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key]
        if (!by) return
        e.preventDefault()
        e.stopPropagation()
        const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length]
        this.open(next.dataset.tab)
        next.focus()
      })
    }
  }

  open(name) {
    this.tab = name
    for (const tab of document.querySelectorAll('#tabs [role=tab]')) {
      const on = tab.dataset.tab === name
      tab.setAttribute('aria-selected', String(on))
      tab.tabIndex = on ? 0 : -1
      byId('tab-' + tab.dataset.tab).hidden = !on
    }
    if (name === 'messages') this.list.update()
    if (name === 'prompt') this.prompt()
  }

  // show shows a request; below 0 there is none.
  show(step) {
    const { model, app } = this
    this.step = step
    byId('earlier').disabled = app.at <= 0
    byId('later').disabled = app.at >= app.steps.length - 1
    if (step < 0) {
      byId('request-name').textContent = 'No request'
      byId('request-facts').textContent = model.head.stopped?.length ? 'the replay stopped before the first request' : ''
      fill(byId('tab-overview'), el('p', { class: 'mute' }, 'No request has been answered on this path.'))
      this.rows = []
      this.list.set(0)
      return
    }
    const s = model.steps, row = s.entry[step]
    byId('request-name').textContent = row >= 0 ? `Request ${s.request[step]}` : 'Next request'
    fill(byId('request-facts'), row >= 0 ? [el('button', { class: 'ref', type: 'button', onclick: () => app.goto(row, { keep: true }) }, model.id(row)), ' ', moment(model.time(row))]
      : model.head.stopped?.length ? 'up to where the replay stopped' : 'not sent yet')
    this.rows = model.list(step)
    this.change = model.change(step)
    this.fresh = new Set([...this.change.added, ...this.change.changed.map(x => x[1])])
    fill(byId('tab-overview'), this.overview(step))
    byId('tab-name-messages').textContent = `Messages ${whole(this.rows.length)}`
    const prompt = model.prompt(step)
    byId('tab-name-prompt').textContent = `Prompt ${prompt.parts.length + prompt.tools.length || ''}`
    this.list.set(this.rows.length)
    if (this.tab === 'prompt') this.prompt()
    if (this.tab === 'messages') this.list.scroller.scrollTop = this.list.scroller.scrollHeight
  }

  // sums returns the tokens of a request by category.
  sums(step) {
    const s = this.model.steps, sums = { system: s.system[step], tools: s.tools[step] }, counts = {}
    for (const row of this.rows) {
      const c = categoryOf(this.model.kind(row))
      sums[c] = (sums[c] || 0) + this.model.tokens(row)
      counts[c] = (counts[c] || 0) + 1
    }
    const prompt = this.model.prompt(step)
    counts.tools = prompt.tools.length
    counts.system = (counts.system || 0) + prompt.parts.length
    return { sums, counts, unknown: unrecorded(prompt) }
  }

  overview(step) {
    const { model } = this, s = model.steps, m = s.models[s.model[step]] || {}
    const total = model.counted(step)
    const { sums, counts, unknown } = this.sums(step)
    const window = m.window || 0, scale = Math.max(window, total, 1)
    const uncached = this.rows.length - s.cached[step]
    // The total is what the provider recorded; the parts are counted.
    const now = s.entry[step] < 0 && model.head.contextUsage, recorded = model.used(step), used = recorded || total
    const of = unknown.system || unknown.tools ? Math.max(used, total) : total // of which the shares are
    return [
      el('div', { class: 'gauge' },
        el('p', { class: 'gauge-total' }, el('strong', { id: 'ctx-total', 'data-n': total, 'data-used': used }, short(used)), window ? el('span', { class: 'mute' }, ` of ${short(window)} tokens · ${percent(used / window)}`) : el('span', { class: 'mute' }, ' tokens')),
        recorded > 0 && el('p', { class: 'mute' }, `${now && now.estimated ? `${short(now.tokens - now.estimated)} as the provider recorded, about ${short(now.estimated)} since` : 'As the provider recorded'}; counted here: ~${short(total)}`),
        el('div', { class: 'stack', role: 'img', 'aria-label': `Context ${short(total)} tokens${window ? ' of ' + short(window) : ''}` },
          categories.filter(([c]) => sums[c] > 0).map(([c, name]) => el('span', { class: 'fill cat-' + c, title: `${name}: ${short(sums[c])}`, css: { width: 100 * sums[c] / scale + '%' } }))),
        el('p', { class: 'mute model' }, line(m.name || 'unknown model', 80))),
      el('table', { class: 'cats' }, el('caption', { class: 'offscreen' }, 'Tokens by category'),
        el('thead', { class: 'offscreen' }, el('tr', null, ['Category', 'Number', 'Tokens', 'Share'].map(t => el('th', { scope: 'col' }, t)))),
        el('tbody', null, categories.filter(([c]) => sums[c] > 0 || counts[c] > 0 || c === 'system' || c === 'tools').map(([c, name]) => el('tr', { 'data-cat': c, 'data-n': sums[c] || 0 },
          el('th', { scope: 'row' }, el('span', { class: 'swatch cat-' + c }), name), el('td', { class: 'num mute' }, counts[c] ? whole(counts[c]) : ''), el('td', { class: 'num' }, unknown[c] ? 'not in this file' : short(sums[c] || 0)),
          el('td', { class: 'num mute' }, of && !unknown[c] ? percent((sums[c] || 0) / of) : ''))))),
      this.hidden(step, total, uncached),
      this.changes(step),
      this.cache(step),
      this.cost(step),
    ]
  }

  hidden(step, total, uncached) {
    const { model } = this, s = model.steps, parts = []
    if (uncached > 0) parts.push(el('p', { class: 'mute' }, `${count(s.cached[step], 'message')} cached, ${whole(uncached)} uncached after them`))
    const { system, tools } = unrecorded(model.prompt(step))
    if (system || tools) {
      parts.push(el('p', { class: 'mute' }, `${!tools ? 'The prompt is' : !system ? 'The tools are' : 'Prompt and tools are'} not in this file`, model.head.hidden ? `: about ${short(model.head.hidden)} tokens more.` : '.'))
    }
    return parts
  }

  // changes shows what was added, removed and changed since the previous request.
  changes(step) {
    const { model } = this, { added, removed, changed, before } = this.change, s = model.steps
    const sum = rows => rows.reduce((n, row) => n + model.tokens(row), 0)
    const promptChanged = before >= 0 && s.prompt[before] !== s.prompt[step]
    const group = (cls, sign, name, rows, list) => rows.length > 0 && el('details', { class: 'change ' + cls, open: rows.length <= 6 },
      el('summary', null, el('span', { class: 'sign', 'aria-hidden': 'true' }, sign), ` ${count(rows.length, 'message')} ${name}`, el('span', { class: 'grow' }), el('span', { class: 'num mute' }, `${sign === '~' ? '' : sign}${short(Math.abs(list ? 0 : sum(rows)))}`)),
      el('ul', null, rows.slice(0, 60).map(row => this.ref(row, list)), rows.length > 60 && el('li', { class: 'mute' }, `and ${whole(rows.length - 60)} more`)))
    return el('section', { class: 'block' }, el('h3', null, before >= 0 ? `Since request ${s.request[before]}` : 'The first request'),
      promptChanged && el('p', null, el('button', { class: 'ref', type: 'button', onclick: () => this.open('prompt') }, 'Prompt, tools or options'), ' changed.'),
      group('added', '+', 'added', added), group('removed', '−', 'removed', removed), group('other', '~', 'changed', changed, true),
      !added.length && !removed.length && !changed.length && !promptChanged && el('p', { class: 'mute' }, 'No changes.'))
  }

  // ref returns a link to a message, or to the comparison of one that changed, [was, is].
  ref(row, pair) {
    const { app, model } = this
    const is = pair ? row[1] : row, kind = model.kind(is), by = model.madeBy(is), source = model.source(is)
    const node = el('span', { class: 'ref-text', dir: 'auto' }, app.gistNow(is, text => { node.textContent = text }))
    return el('li', null, el('button', { class: 'ref-row', type: 'button', onclick: () => pair ? this.compare(row[0], is) : source === is ? app.goto(is, { keep: true }) : this.read(is) },
      el('span', { class: 'swatch cat-' + categoryOf(kind) }), node), by !== source && by >= 0 && el('button', { class: 'ref by', type: 'button', onclick: () => app.goto(by, { keep: true }) }, model.kind(by) === 'context_edit' ? 'edit' : 'by'))
  }

  cache(step) {
    const { model, app } = this, c = model.cache[step]
    if (!c) return model.steps.entry[step] >= 0 && el('section', { class: 'block' }, el('h3', null, 'Cache'), el('p', { class: 'mute' }, 'Unknown.'))
    const scale = Math.max(1, c.prompt), parts = []
    if ((c.read || 0) + (c.write || 0) + (c.input || 0) > 0) {
      parts.push(el('div', { class: 'stack', role: 'img', 'aria-label': `read ${short(c.read || 0)}, written ${short(c.write || 0)}, neither ${short(c.input || 0)}` },
        [['read', c.read], ['write', c.write], ['input', c.input]].map(([name, n]) => n > 0 && el('span', { class: 'fill use-' + name, title: `${name}: ${short(n)}`, css: { width: 100 * n / scale + '%' } }))))
      parts.push(el('p', { class: 'legend' }, [['read', 'read', c.read], ['write', 'written', c.write], ['input', 'neither', c.input]].map(([cls, name, n]) => n > 0 && el('span', null, el('span', { class: 'swatch use-' + cls }), `${name} ${short(n)}`))))
    }
    if (c.shared > 0) parts.push(el('p', { class: 'mute' }, `${percent(c.shared / scale)} is the prefix of an earlier request: ${short(c.shared)} of ${short(c.prompt)} tokens`))
    if (c.break) parts.push(this.broken(c.break))
    if (c.unserved) parts.push(el('p', { class: 'note warn' }, icon('warn'), ` The cache did not serve ${short(c.unserved.tokens)} tokens${c.unserved.cost > 0 ? ', which cost ' + dollars(c.unserved.cost) : ''}.`))
    if (parts.length === 0) parts.push(el('p', { class: 'mute' }, c.answered ? 'No earlier request had a part of it.' : 'No usage is recorded.'))
    return el('section', { class: 'block' }, el('h3', null, 'Cache', (c.read || 0) + (c.write || 0) + (c.input || 0) > 0 ? el('span', { class: 'num' }, percent((c.read || 0) / scale)) : null), parts)
  }

  broken(b) {
    const { app, model } = this
    const parts = [`Broken after message ${whole(b.at)}: ${why[b.cause] || b.cause}`]
    if (b.sections) parts.push(': ', line(b.sections[0], 80), b.sections.length > 1 ? ` and ${b.sections.length - 1} more` : '')
    if (b.transformer) parts.push(' (', el('code', null, line(b.transformer, 60)), ')')
    if (b.reason) parts.push(', “', line(b.reason, 200), '”')
    if (b.entry >= 0) parts.push(' — ', el('button', { class: 'ref', type: 'button', onclick: () => app.goto(b.entry, { keep: true }) }, model.id(b.entry)), b.op >= 0 ? ` op ${b.op}` : '')
    parts.push('.')
    if (b.again) parts.push(` ${short(b.again.tokens)} tokens were rebilled${b.again.cost > 0 ? ', ' + dollars(b.again.cost) : ''}.`)
    return el('p', { class: 'note break', 'data-cause': b.cause }, parts)
  }

  cost(step) {
    const { model, app } = this, row = model.steps.entry[step], c = model.cache[step]
    if (row < 0) return null
    let sum = 0
    for (let k = 0; k <= app.at; k++) sum += model.index.cost[model.steps.entry[app.steps[k]]] || 0
    const out = model.index.output[row]
    if (!sum && !out && !c?.answered) return null
    const facts = [['This request', dollars(model.index.cost[row])], ['So far', dollars(sum)], ['Output', short(out) + ' tokens']]
    return el('section', { class: 'block' }, el('h3', null, 'Cost', el('span', { class: 'num' }, dollars(model.index.cost[row]))),
      el('dl', { class: 'facts' }, facts.slice(1).map(([name, text]) => el('div', null, el('dt', null, name), el('dd', { class: 'num' }, text)))))
  }

  // message returns a line of the list of messages.
  message(i) {
    const { app, model } = this, row = this.rows[i], kind = model.kind(row)
    const made = row >= model.entries
    const text = el('span', { class: 'msg-text', dir: 'auto' }, app.gistNow(row, t => { text.textContent = t }))
    const cached = i < model.steps.cached[this.step]
    return el('button', { class: `msg${this.fresh.has(row) ? ' fresh' : ''}${made ? ' made' : ''}${cached ? '' : ' uncached'}`, type: 'button', 'data-i': i, 'data-kind': kind, 'data-tokens': model.tokens(row), onclick: () => this.read(row) },
      el('span', { class: 'num mute' }, String(i)), el('span', { class: 'swatch cat-' + categoryOf(kind), title: nameOf(kind) }), text, el('span', { class: 'num mute' }, short(model.tokens(row))))
  }

  // bodyOf returns a message as the model got it.
  async bodyOf(row) {
    const value = await this.app.store.row(this.model.body(row))
    return value?.message ?? value ?? {}
  }

  // read shows a message as the model saw it.
  async read(row) {
    const { app, model } = this
    if (!app.store.here(model.body(row))) return app.dialog('A message on another page', [app.talk.elsewhere(model.source(row))])
    const m = await this.bodyOf(row), source = model.source(row), by = model.madeBy(row)
    const drawer = new Drawer({ model, call: () => null, answered: () => new Set((Array.isArray(m.content) ? m.content : []).map(b => b?.id)), goto: r => { app.closeDialog(); app.goto(r) } })
    const draw = () => fill(body, drawer.blocks(0, m))
    const body = el('div', { class: 'body', 'data-message': row })
    drawer.redraw = draw
    drawer.thoughts = true
    draw()
    const facts = [`${count(model.tokens(row), 'token')}`]
    if (by !== source && by >= 0) facts.push(`${model.kind(by) === 'context_edit' ? 'rewritten' : 'added'} by ${model.id(by)}, a ${nameOf(model.kind(by)).toLowerCase()}`)
    app.dialog(`${m.role === 'toolResult' ? 'Tool result' : nameOf(typeof m.role === 'string' && line(m.role, 40) || model.kind(row))}, as the model saw it`, [
      el('p', { class: 'mute' }, facts.join(' · '), ' · ', el('button', { class: 'ref', type: 'button', onclick: () => { app.closeDialog(); app.goto(source, { keep: true }) } }, 'Go to ' + (model.id(source) || 'its entry'))), body,
    ])
  }

  // compare shows a message before and after a change.
  async compare(was, is) {
    const [a, b] = await Promise.all([this.bodyOf(was), this.bodyOf(is)])
    const lines = difference(textOf(a), textOf(b))
    const by = this.model.madeBy(is)
    this.app.dialog('A message that changed', [
      el('p', { class: 'mute' }, `${tally(lines)} lines`, by >= 0 ? [', by ', el('button', { class: 'ref', type: 'button', onclick: () => { this.app.closeDialog(); this.app.goto(by, { keep: true }) } }, this.model.id(by))] : null),
      el('div', { class: 'more diff' }, el('pre', { tabindex: 0 }, drawn(near(lines).slice(0, 5000)))),
    ])
  }

  // prompt shows what precedes the messages.
  async prompt() {
    const { model, app } = this, s = model.steps, box = byId('tab-prompt')
    if (this.step < 0) return fill(box)
    const p = model.prompt(this.step), before = this.change.before
    const was = before >= 0 ? model.prompt(before) : null
    const key = x => x[1] + ' ' + x[0], set = (of, list, key) => new Set(of[list].map(key))
    const had = was && { parts: set(was, 'parts', key), tools: set(was, 'tools', key) }
    const changed = (list, x) => was && !had[list].has(key(x))
    const part = list => ([name, row, by]) => el('details', { class: changed(list, [name, row]) ? 'folded fresh' : 'folded', 'data-part': name, ontoggle: async e => {
      const node = e.target
      if (!node.open || node.children.length > 1) return
      const text = await app.store.row(row)
      node.append(list === 'parts' ? el('pre', { class: 'plain', tabindex: 0 }, clean(text)) : code(json(text), 'json'))
    } }, el('summary', null, el('span', null, line(name || '(no name)', 80)), changed(list, [name, row]) && el('span', { class: 'tag' }, 'new'), by >= 0 && el('span', { class: 'mute' }, ' ' + model.id(by))))
    const now = { parts: set(p, 'parts', x => x[0]), tools: set(p, 'tools', x => x[0]) }
    const unknown = unrecorded(p)
    const removed = list => was ? was[list].filter(x => !now[list].has(x[0])).map(x => el('p', { class: 'mute' }, '− ', line(x[0], 80))) : []
    fill(box,
      el('section', { class: 'block' }, el('h3', null, 'System prompt', !unknown.system && el('span', { class: 'num' }, short(s.system[this.step]))), p.parts.map(part('parts')), removed('parts'), !p.parts.length && el('p', { class: 'mute' }, unknown.system ? 'Not in this file.' : 'Empty.')),
      el('section', { class: 'block' }, el('h3', null, 'Tools', !unknown.tools && el('span', { class: 'num' }, short(s.tools[this.step]))), p.tools.map(part('tools')), removed('tools'), !p.tools.length && el('p', { class: 'mute' }, unknown.tools ? 'Not in this file.' : 'None.'),
        p.omitted.length > 0 && el('p', { class: 'mute' }, 'Omitted, not implemented: ' + p.omitted.map(x => line(x[0], 40)).join(', '))),
      p.options && el('section', { class: 'block' }, el('h3', null, 'Options'), code(json(p.options), 'json')))
  }
}
