// A page that compares policies: the context of each by request, and what the model would have
// seen of the session.
import { begin, byId, count, dollars, el, fill, line, percent, short, whole } from './dom.js'
import { unpack } from './store.js'
import { Windowed } from './windowed.js'

const height = 220, lane = 12
const columns = [
  ['Policy', r => r.policy], ['Peak', r => short(r.peak)], ['Mean', r => short(Math.round(r.mean))], ['Overflows', r => whole(r.overflows)],
  ['Compactions', r => whole(r.compactions)], ['Rebilled', r => short(r.rebilled.tokens)], ['Cost', r => cost(r)],
  ['Hit rate', r => percent(r.hitRate)], ['Regrets', r => whole(r.regrets)],
]
const cost = r => r.cost.total === 0 && r.unpriced ? '–' : dollars(r.cost.total)
const names = { user: 'prompt', assistant: 'answer', toolResult: 'result', compactionSummary: 'summary', branchSummary: 'summary' }

class Simulation {
  async start() {
    Object.assign(this, JSON.parse(await unpack('head')))
    this.at = 0
    this.chosen = Math.max(0, this.runs.findIndex(r => r.policy === this.best))
    byId('title').textContent = line(this.title, 120)
    const one = this.runs[0]
    if (this.answers.length === 0) document.body.classList.add('sim-total')
    fill(byId('facts'), [count(one.requests, 'request'), one.sessions ? count(one.sessions, 'session') : null, one.window ? 'window ' + short(one.window) : null, `best for the least ${this.optimize}: ${this.best}`].filter(Boolean).map(t => el('span', null, t)))
    this.list = new Windowed(byId('seen-scroll'), byId('seen-space'), { draw: i => this.row(this.seen[i]), fixed: 26, over: 300 })
    const plot = byId('plot'), to = e => Math.floor((e.clientX - plot.getBoundingClientRect().left) / plot.clientWidth * this.answers.length)
    plot.addEventListener('pointerdown', e => this.go(to(e)))
    plot.addEventListener('pointermove', e => { if (e.buttons & 1) this.go(to(e)) })
    document.addEventListener('keydown', e => this.key(e))
    new ResizeObserver(() => { if (this.answers.length) this.draw() }).observe(plot)
    this.frontier()
    this.choose(this.chosen)
    const first = this.runs[this.chosen].missed[0]
    if (this.answers.length) this.go(first ? first.request : this.answers.length - 1)
    document.documentElement.dataset.ready = 'true'
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[e.key]
    if (by && !e.target.matches('.scroll')) { e.preventDefault(); this.go(this.at + by) }
    const up = { ArrowUp: -1, ArrowDown: 1 }[e.key]
    if (up && !e.target.matches('.scroll')) { e.preventDefault(); this.choose((this.chosen + up + this.runs.length) % this.runs.length) }
  }

  colour(i) { return `hsl(${(i * 137 + 222) % 360} 60% 50%)` }

  // draw draws a line for each policy, and below it where each acted.
  draw() {
    const box = byId('plot'), width = Math.max(1, box.clientWidth), n = this.answers.length, total = height + lane * this.runs.length + 6
    const window = this.runs[0].window || 0
    let most = 1
    for (const r of this.runs) for (const v of r.sizes) most = Math.max(most, v)
    const top = window && window < most * 3 ? Math.max(window, most) : most
    const x = k => (k + 0.5) * width / n, y = v => 4 + (height - 8) * (1 - v / top / 1.04)
    const path = sizes => {
      const points = Math.min(n, Math.ceil(width * 2)), d = []
      for (let b = 0; b < points; b++) {
        const from = Math.floor(b * n / points), to = Math.max(from + 1, Math.floor((b + 1) * n / points))
        let k = from
        for (let i = from; i < to; i++) if (sizes[i] > sizes[k]) k = i
        d.push(`${b ? 'L' : 'M'}${x(k).toFixed(1)} ${y(sizes[k]).toFixed(1)}`)
      }
      return d.join('')
    }
    const order = this.runs.map((_, i) => i).sort((a, b) => (a === this.chosen) - (b === this.chosen))
    const ticks = (run, i) => {
      const at = height + 6 + lane * i + lane / 2, marks = new Set(Object.keys(run.changes).map(k => Math.round(x(+k)))), missed = new Set(run.missed.map(m => Math.round(x(m.request))))
      return el('g', null,
        el('path', { class: 'sim-acts', stroke: this.colour(i), d: [...marks].map(p => `M${p} ${at - 4}v8`).join('') }),
        el('path', { class: 'sim-missed', d: [...missed].map(p => `M${p - 2} ${at}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0`).join('') }))
    }
    this.playhead = el('line', { class: 'playhead', y1: 0, y2: total })
    fill(box, el('svg', { width, height: total, viewBox: `0 0 ${width} ${total}`, 'aria-hidden': 'true' },
      window && window <= top ? el('line', { class: 'window', x1: 0, x2: width, y1: y(window), y2: y(window) }) : null,
      order.map(i => el('path', { class: i === this.chosen ? 'sim-line sim-chosen' : 'sim-line', stroke: this.colour(i), d: path(this.runs[i].sizes) })),
      this.runs.map(ticks), this.playhead), el('span', { class: 'sim-top-label mute num' }, short(Math.round(top))))
    box.style.setProperty('height', total + 'px')
    this.mark()
  }

  mark() {
    if (!this.playhead) return
    const x = (this.at + 0.5) * byId('plot').clientWidth / this.answers.length
    this.playhead.setAttribute('x1', x)
    this.playhead.setAttribute('x2', x)
    byId('plot').setAttribute('aria-valuemax', this.answers.length - 1)
    byId('plot').setAttribute('aria-valuenow', this.at)
  }

  // frontier draws the policies by cost and regrets, with the ones that no other beats in both.
  frontier() {
    const width = 300, h = 220, pad = 26
    const most = f => Math.max(1e-9, ...this.runs.map(f)), c = most(r => r.cost.total), g = most(r => r.regrets)
    const x = r => pad + (width - 2 * pad) * r.cost.total / c, y = r => h - pad - (h - 2 * pad) * r.regrets / g
    const front = this.runs.filter(r => !this.runs.some(o => o !== r && o.cost.total <= r.cost.total && o.regrets <= r.regrets && (o.cost.total < r.cost.total || o.regrets < r.regrets)))
      .sort((a, b) => a.cost.total - b.cost.total)
    fill(byId('front'), el('svg', { width, height: h, viewBox: `0 0 ${width} ${h}`, role: 'img', 'aria-label': 'Cost and regrets of the policies' },
      el('path', { class: 'sim-axis', d: `M${pad} ${pad / 2}V${h - pad}H${width - pad / 2}` }),
      el('path', { class: 'sim-frontier', d: front.map((r, i) => `${i ? 'L' : 'M'}${x(r).toFixed(1)} ${y(r).toFixed(1)}`).join('') }),
      this.runs.map((r, i) => el('circle', { class: 'sim-dot', cx: x(r), cy: y(r), r: 5, fill: this.colour(i), onclick: () => this.choose(i), onpointerenter: () => { byId('front-tip').textContent = `${r.policy}: ${cost(r)}, ${count(r.regrets, 'regret')}` } }))),
    el('p', { id: 'front-tip', class: 'mute num' }, `cost to ${dollars(c)}, regrets to ${whole(Math.round(g))}`))
  }

  table() {
    fill(byId('policies'), el('thead', null, el('tr', null, columns.map(([name]) => el('th', null, name)))),
      el('tbody', null, this.runs.map((r, i) => el('tr', { class: i === this.chosen ? 'sim-chosen' : null, tabindex: 0, onclick: () => this.choose(i), onkeydown: e => { if (e.key === 'Enter') this.choose(i) } },
        columns.map(([name, of], k) => el('td', null, k ? of(r) : [el('span', { class: 'sim-key', css: { background: this.colour(i) } }), line(r.policy, 60), r.policy === this.best ? el('span', { class: 'tag' }, 'best') : null]))))))
  }

  choose(i) {
    this.chosen = i
    this.table()
    if (!this.answers.length) return // totals only
    this.draw()
    this.show()
  }

  go(k) {
    this.at = Math.max(0, Math.min(this.answers.length - 1, k))
    this.mark()
    this.show()
  }

  // context returns the messages that the chosen policy sends with the request.
  context() {
    const run = this.runs[this.chosen], stands = new Map(), gone = new Set()
    for (let k = 0; k <= this.at; k++) {
      for (const [message, text, now, replaced] of run.changes[k] || []) {
        for (const m of replaced || []) { gone.add(m); stands.delete(m) }
        if (replaced) gone.delete(message)
        if (text === null) { gone.add(message); stands.delete(message) } else if (text !== '' || replaced) stands.set(message, { text, tokens: now, summary: !!replaced, since: k })
      }
    }
    const seen = []
    for (let m = 0; m < this.answers[this.at]; m++) {
      const was = this.messages[m], now = stands.get(m)
      if (gone.has(m) || !was.sent) continue
      seen.push({ ...was, message: m, now })
    }
    return { seen, gone: gone.size, edited: stands.size }
  }

  show() {
    const run = this.runs[this.chosen], { seen, gone, edited } = this.context()
    this.seen = seen.reverse()
    byId('step').textContent = `${line(run.policy, 60)}, request ${this.at}: ${short(run.sizes[this.at] || 0)} tokens, ${dollars(run.costs[this.at] || 0)}`
    byId('what').textContent = [count(seen.length, 'message'), gone ? `${whole(gone)} removed` : null, edited ? `${whole(edited)} replaced` : null, run.why[this.at] ? 'acted: ' + run.why[this.at] : null].filter(Boolean).join(' · ')
    this.list.set(this.seen.length)
    const missed = run.missed.filter(m => m.request === this.at), next = run.missed.find(m => m.request > this.at)
    fill(byId('side'), el('h3', null, count(missed.length, 'regret') + ' here'), missed.map(m => this.missed(m)),
      next ? el('button', { class: 'sim-next', type: 'button', onclick: () => this.go(next.request) }, `Next regret: request ${next.request}`) : null,
      el('h3', null, 'Changes before this request'),
      (run.changes[this.at] || []).slice(0, 200).map(([m, text, now, replaced]) => el('p', { class: 'sim-change' }, el('b', null, replaced ? `${count(replaced.length, 'message')} → summary` : line(this.messages[m].text || this.messages[m].kind, 80)), el('span', { class: 'mute' }, text === null ? 'removed' : ` ${short((replaced || [m]).reduce((n, i) => n + this.messages[i].tokens, 0))} → ${short(now)} tokens`))),
      run.changes[this.at] ? null : el('p', { class: 'mute' }, 'none'))
  }

  missed(m) {
    return el('p', { class: 'sim-change' }, el('b', null, `${m.kind} ${line(m.what, 120)}`), el('span', { class: 'mute' }, ` was in line ${m.line}, removed before request ${m.removed}`))
  }

  row(m) {
    const now = m.now
    return el('div', { class: now ? 'sim-row sim-edited' : 'sim-row', 'data-line': m.line },
      el('span', { class: 'sim-kind mute' }, now?.summary ? 'summary' : names[m.kind] || m.kind), el('span', { class: 'sim-text', dir: 'auto' }, line(now ? now.text : m.text, 240)), el('span', { class: 'num mute' }, short(now ? now.tokens : m.tokens)))
  }
}

begin(new Simulation())
