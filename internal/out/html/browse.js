// The index of a store as it is served: sessions as they are read, costs as charts, and a search of all
// texts. Its filters are in its address.
import { begin, byId, clean, count, dollars, el, fill, line, moment, whole } from './dom.js'
import { Index } from './index.js'

const leastDays = 30 // in the chart
const filters = ['q', 'project', 'agent', 'since', 'until']

class Browse extends Index {
  async start() {
    await super.start()
    byId('filters').hidden = false
    byId('search').placeholder = 'Filter; Enter searches all texts  /'
    this.restore()
    addEventListener('popstate', () => this.restore())
    for (const name of ['project', 'agent', 'since', 'until']) byId(name).addEventListener('change', () => this.remember())
    byId('search').addEventListener('keydown', e => { if (e.key === 'Enter') this.remember() })
    await this.read()
  }

  // restore takes the filters from the address.
  restore() {
    this.by_ = Object.fromEntries(new URLSearchParams(location.search))
    for (const name of filters) {
      const box = byId(name === 'q' ? 'search' : name), value = this.by_[name] || ''
      if (box.tagName === 'SELECT' && value && ![...box.options].some(o => o.value === value)) box.append(el('option', { value }, value))
      box.value = value
    }
    this.refresh()
    this.search()
  }

  // remember puts the filters into the address.
  remember() {
    const set = new URLSearchParams()
    for (const name of filters) {
      const value = byId(name === 'q' ? 'search' : name).value.trim()
      if (value) set.set(name, value)
    }
    history.pushState(null, '', location.pathname + (String(set) ? '?' + set : ''))
    this.restore()
  }

  // lines yields the values of an answer, a line each, as they come.
  async * lines(path, signal) {
    const answer = await fetch(path, { signal })
    if (!answer.ok) throw new Error(await answer.text())
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { value, done } = await reader.read()
      const all = (rest + (value || '')).split('\n')
      rest = done ? '' : all.pop()
      for (const text of all) if (text) yield JSON.parse(text)
      if (done) return
    }
  }

  // read reads the sessions, and draws them a few times a second.
  async read() {
    let drawn = 0
    const at = new Map() // of sessions, by the address of their page
    for await (const one of this.lines('sessions')) {
      if (one.costs) {
        this.costs = one.costs
        for (const [page, copied] of Object.entries(one.copied || {})) this.sessions.find(s => s.page === page).copied = copied
      } else if (one.page && at.has(one.page)) this.sessions[at.get(one.page)] = one // with its sub-agents now
      else {
        if (one.page) at.set(one.page, this.sessions.length)
        this.sessions.push(one)
      }
      if (performance.now() - drawn < 300) continue
      this.draw()
      drawn = performance.now()
      performance.mark('rows')
    }
    this.complete = true
    this.draw()
    document.documentElement.dataset.complete = 'true'
  }

  draw() {
    this.dearest = Math.max(1e-9, ...this.sessions.map(s => s.cost || 0))
    const options = (name, of) => {
      const box = byId(name), had = new Set([...box.options].map(o => o.value))
      for (const value of new Set(this.sessions.map(of))) if (value && !had.has(value)) box.append(el('option', { value }, line(value, 80)))
    }
    options('project', s => s.project)
    options('agent', s => s.agent)
    this.refresh()
  }

  // fits reports whether the filters besides the words select a session, or a row of costs.
  fits({ project, agent, from, to }) {
    const by = this.by_ || {}
    return (!by.project || project === by.project) && (!by.agent || agent === by.agent) && (!by.since || !to || to >= by.since) && (!by.until || !from || from <= by.until)
  }

  refresh() {
    const all = this.sessions, day = ms => ms ? moment(ms).slice(0, 10) : ''
    this.sessions = all.filter(s => this.fits({ project: s.project, agent: s.agent, from: day(s.from), to: day(s.to) }))
    super.refresh()
    this.about()
    this.chart()
    byId('shown').textContent = !this.by_?.q && this.rows.length < all.length ? `${whole(this.rows.length)} of ${whole(all.length)}` : ''
    this.sessions = all
  }

  about() {
    super.about()
    if (!this.complete) byId('facts').append(el('span', { class: 'mute' }, 'reading …'))
  }

  days() {} // of costs: see chart

  // chart draws the costs that the filters select, by day and by project; a bar is a filter.
  chart() {
    const rows = (this.costs || []).filter(r => this.fits({ project: r.project, agent: r.agent, from: r.day, to: r.day }))
    const sums = key => {
      const by = new Map()
      for (const r of rows) by.set(r[key] || '', (by.get(r[key] || '') || 0) + r.cost)
      return by
    }
    const byDay = sums('day'), byProject = [...sums('project')].filter(([, d]) => d > 0).sort((a, b) => b[1] - a[1])
    byId('days').hidden = !byProject.length
    if (!byProject.length) return
    const days = [...byDay.keys()].filter(Boolean).sort(), ms = 86400000, at = d => Date.parse(d) / ms
    const n = Math.max(leastDays, at(days.at(-1)) - at(days[0]) + 1), first = at(days.at(-1)) - n + 1, most = Math.max(...byDay.values()), width = 100 / n
    fill(byId('days-plot'), el('svg', { viewBox: '0 0 100 48', width: '100%', height: 48, preserveAspectRatio: 'none', role: 'img', 'aria-label': `Cost by day, ${dollars(rows.reduce((sum, r) => sum + r.cost, 0))}` },
      days.map(d => {
        const height = Math.max(1, 46 * byDay.get(d) / most)
        return el('rect', { class: 'day', 'data-day': d, 'data-cost': byDay.get(d), x: (at(d) - first) * width, y: 48 - height, width: width * 0.85, height, onclick: () => this.only({ since: d, until: d }) }, el('title', null, `${d}  ${dollars(byDay.get(d))}`))
      })))
    fill(byId('days-names'), el('span', null, moment(first * ms).slice(0, 10)), el('span', null, `at most ${dollars(most)} a day`), el('span', null, days.at(-1)))
    const top = byProject.slice(0, 6), rest = byProject.slice(6)
    if (rest.length) top.push([count(rest.length, 'other'), rest.reduce((sum, [, d]) => sum + d, 0)])
    fill(byId('projects'), top.map(([name, d], i) => el('button', { class: 'project', type: 'button', 'data-cost': d, disabled: i === 6, title: name, onclick: () => this.only({ project: name }) },
      el('span', { class: 'name' }, line(name.replace(/^.*[\\/](?=.)/, ''), 40) || 'no folder'), el('span', { class: 'project-bar', css: { width: Math.max(1, 100 * d / Math.max(...top.map(t => t[1]))) + '%' } }), el('span', { class: 'num' }, dollars(d)))))
  }

  only(set) {
    for (const name in set) byId(name).value = byId(name).value === set[name] ? '' : set[name]
    this.remember()
  }

  // search lists what the words of the address are found in, unless it was done for them.
  async search() {
    const ask = new URLSearchParams(filters.filter(n => this.by_[n]).map(n => [n, this.by_[n]])), box = byId('found')
    if (this.asked === String(ask)) return
    this.asked = String(ask)
    this.stop?.abort()
    box.hidden = !this.by_.q
    byId('sessions').hidden = !!this.by_.q
    fill(box)
    if (!this.by_.q) return
    const stop = this.stop = new AbortController(), state = add => fill(byId('found-state') || box.appendChild(el('p', { id: 'found-state', class: 'mute', role: 'status' })), add)
    state('searching …')
    try {
      for await (const one of this.lines('found?' + ask, stop.signal)) {
        if (one.sessions !== undefined) state(one.sessions ? `${count(one.hits, 'place')} in ${count(one.sessions, 'session')}${one.sessions > box.childElementCount - 1 ? ', the best first' : ''}` : 'not found in any text')
        else box.append(this.hits(one))
      }
      box.dataset.complete = 'true'
    } catch (e) {
      if (!stop.signal.aborted) state(e.message)
    }
  }

  hits(s) {
    return el('section', { class: 'hits' }, el('h3', null, el('a', { href: s.page, dir: 'auto' }, line(s.title || s.file, 120)), el('span', { class: 'mute' }, ` ${line(s.project || '', 80)} · ${(s.time || '').slice(0, 10)}${s.more ? ` · ${whole(s.more)} more` : ''}`)),
      s.hits.map(h => el('a', { class: 'hit', href: h.page }, el('span', { class: 'mute' }, h.where || h.kind || ''), el('span', { dir: 'auto' }, flat(h.before), el('mark', null, flat(h.match)), flat(h.after)))))
  }
}

// flat returns a part of a text on one line, with the spaces at its ends.
const flat = text => clean(text || '').replace(/\s+/g, ' ')

begin(new Browse())
