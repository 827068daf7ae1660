// The index of a folder: its sessions with their figures, to search and to sort.
import { byId, count, dollars, el, fill, lacking, line, moment, percent, short, spent, theme, whole } from './dom.js'
import { unpack } from './store.js'
import { Windowed } from './windowed.js'

const columns = [
  { name: 'Session', of: s => (s.name || s.first || s.file).toLowerCase(), up: true },
  { name: 'Began', of: s => s.from || 0, cls: 'when' },
  { name: 'Requests', of: s => s.requests, cls: 'n' },
  { name: 'Context', of: s => Math.max(0, ...s.sizes || []), cls: 'spark' },
  { name: 'Cached', of: s => s.tokens ? s.read / s.tokens : -1, cls: 'n' },
  { name: 'Cost', of: s => s.cost, cls: 'cost' },
]
const rowHeight = 52

export class Index {
  async start() {
    Object.assign(this, JSON.parse(await unpack('head')))
    this.dearest = Math.max(1e-9, ...this.sessions.map(s => s.cost || 0))
    this.by = columns[1]
    this.up = false
    this.about()
    this.days()
    byId('search').addEventListener('input', () => this.refresh())
    document.addEventListener('keydown', e => this.key(e))
    this.list = new Windowed(byId('rows-scroll'), byId('rows-space'), { draw: i => this.row(this.rows[i]), fixed: rowHeight, over: 300 })
    fill(byId('columns'), columns.map(c => el('span', { class: 'cell ' + (c.cls || 'what'), role: 'columnheader', 'data-column': c.name }, el('button', { type: 'button', onclick: () => this.sort(c) }, c.name))))
    this.refresh()
    document.documentElement.dataset.ready = 'true'
  }

  about() {
    const sum = f => this.sessions.reduce((n, s) => n + (f(s) || 0), 0), tokens = sum(s => s.tokens)
    const cost = sum(s => s.cost - (s.copied || 0))
    const broken = this.sessions.filter(s => s.error).length
    byId('title').textContent = line(this.title, 120)
    fill(byId('facts'), [count(this.sessions.length, 'session'), count(sum(s => s.requests), 'request'), spent(cost, this.sessions.some(s => s.recorded < s.cost) ? 0 : cost) + (this.sessions.some(s => s.noSubagents) ? lacking({ noSubagents: true }) : ''), tokens ? percent(sum(s => s.read) / tokens) + ' cached' : null,
      sum(s => s.again) > 0 ? dollars(sum(s => s.again)) + ' billed again' : null].filter(Boolean).map(t => el('span', null, t)),
    this.redacted && el('span', { class: 'tag' }, 'redacted'), broken > 0 && el('span', { class: 'tag warn' }, `${whole(broken)} cannot be read`))
  }

  // days draws the cost of each day.
  days() {
    const day = 86400000, costs = new Map()
    for (const s of this.sessions) if (s.from) costs.set(Math.floor(s.from / day), (costs.get(Math.floor(s.from / day)) || 0) + s.cost - (s.copied || 0))
    const all = [...costs.keys()].sort((a, b) => a - b)
    const most = Math.max(0, ...costs.values())
    byId('days').hidden = all.length < 2 || !most
    if (all.length < 2 || !most) return
    const first = all[0], n = all[all.length - 1] - first + 1, width = Math.max(2, Math.min(28, 1200 / n))
    fill(byId('days-plot'), el('svg', { viewBox: `0 0 ${n * width} 48`, width: '100%', height: 48, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${dollars([...costs.values()].reduce((a, b) => a + b, 0))} in ${count(n, 'day')}` },
      all.map(d => el('rect', { class: 'day', x: (d - first) * width, y: 48 - Math.max(1, 46 * costs.get(d) / most), width: Math.max(1, width - Math.min(2, width / 4)), height: Math.max(1, 46 * costs.get(d) / most) }))))
    const name = d => moment(d * day).slice(0, 10)
    fill(byId('days-names'), el('span', null, name(first)), el('span', null, `at most ${dollars(most)} a day`), el('span', null, name(all[all.length - 1])))
  }

  sort(column) {
    this.up = column === this.by ? !this.up : !!column.up
    this.by = column
    this.refresh()
  }

  refresh() {
    const words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean)
    const { of } = this.by, sign = this.up ? 1 : -1
    this.rows = this.sessions.filter(s => {
      const text = [s.file, s.name, s.first, s.project, s.model, s.error].filter(Boolean).join('\n').toLowerCase()
      return words.every(w => text.includes(w))
    }).sort((a, b) => { const x = of(a), y = of(b); return x < y ? -sign : x > y ? sign : a.file < b.file ? -1 : 1 })
    for (const cell of byId('columns').children) cell.setAttribute('aria-sort', cell.dataset.column === this.by.name ? (this.up ? 'ascending' : 'descending') : 'none')
    byId('shown').textContent = words.length ? `${whole(this.rows.length)} of ${whole(this.sessions.length)}` : ''
    this.list.set(this.rows.length)
  }

  row(s) {
    const cell = (cls, ...children) => el('span', { class: 'cell ' + cls, role: 'cell' }, children)
    const title = line(s.name || s.first || s.file, 160)
    const about = [s.name || s.first ? s.file : null, s.project, s.model].filter(Boolean).map(x => line(x, 120)).join(' · ')
    return el('div', { class: s.error ? 'session-row broken' : 'session-row', role: 'row', 'data-file': s.file },
      cell('what', s.page ? el('a', { href: s.page, dir: 'auto' }, title) : el('span', { class: 'name' }, title), s.over ? el('span', { class: 'tag warn' }, 'over the window') : null, s.findings || s.found ? el('span', { class: 'tag warn' }, s.findings ? count(s.findings, 'finding') : s.found + 's') : null,
        el('span', { class: 'about mute' }, s.error ? line(s.error, 200) : about)),
      cell('when mute', s.from ? [el('span', null, moment(s.from).slice(0, 10)), el('span', { class: 'about' }, moment(s.from).slice(11, 16))] : ''),
      cell('n', s.error ? '' : whole(s.requests)),
      cell('spark', s.sizes?.length ? [s.sizes.length > 1 && spark(s), el('span', { class: 'about mute' }, short(Math.max(...s.sizes)))] : ''),
      cell('n', s.tokens ? percent(s.read / s.tokens) : ''),
      cell('cost', s.cost ? [el('span', null, spent(s.cost, s.recorded) + lacking({ unreadSubagents: s.unreadSubagents })), el('span', { class: 'cost-bar', 'aria-hidden': 'true', css: { width: Math.max(2, 100 * s.cost / this.dearest) + '%' } })] : ''))
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return
    if (e.key === 'Escape') { byId('search').value = ''; this.refresh(); byId('search').blur() }
    if (e.target.matches('input')) return
    if (e.key === '/') { e.preventDefault(); byId('search').focus() }
    if (e.key === 'd') theme(true)
  }
}

// spark draws the size of the context, from the first request to the last.
function spark(s) {
  const n = s.sizes.length, width = 96, height = 24, most = Math.max(1, ...s.sizes)
  let d = `M0 ${height}`
  s.sizes.forEach((v, i) => { const y = (height - (height - 1) * v / most).toFixed(1); d += `L${(i * width / n).toFixed(1)} ${y}L${((i + 1) * width / n).toFixed(1)} ${y}` })
  return el('svg', { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' }, el('path', { class: 'area-hit', d: d + `L${width} ${height}Z` }))
}
