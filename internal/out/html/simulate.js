// A page that compares policies: the context of each by request, and what the model would have
// seen of the session.
import { begin, byId, count, dollars, el, fill, line, percent, short, spent, theme, whole } from './dom.js'
import { drawFrontier, drawLines, drawSpreads, tint } from './policies.js'
import { unpack } from './store.js'
import { Windowed } from './windowed.js'

const cost = r => r.cost.total === 0 && r.unpriced ? 'unknown' : dollars(r.cost.total) + (r.unpriced ? '+' : '')
const columns = [
  { name: 'Peak', of: r => short(r.peak) }, { name: 'Mean', of: r => short(Math.round(r.mean)), minor: true }, { name: 'Overflows', of: r => whole(r.overflows), bad: r => r.overflows > 0 },
  { name: 'Compactions', of: r => whole(r.compactions), minor: true }, { name: 'Rebilled', of: r => short(r.rebilled.tokens), minor: true }, { name: 'Cost', of: cost },
  { name: 'Hit rate', of: r => percent(r.hitRate), minor: true }, { name: 'Regrets', of: r => whole(r.regrets) },
]
const nameOf = r => r.policy === 'recorded' ? 'recorded, ideal cache' : r.policy
const names = { user: 'prompt', assistant: 'answer', toolResult: 'result', bashExecution: 'command', compactionSummary: 'summary', branchSummary: 'summary' }

class Simulation {
  async start() {
    Object.assign(this, JSON.parse(await unpack('head')))
    this.at = 0
    this.chosen = Math.max(0, this.runs.findIndex(r => r.policy === this.best))
    byId('title').textContent = line(this.title, 120)
    const one = this.runs[0]
    fill(byId('facts'), [count(one.requests, 'request'), one.sessions ? count(one.sessions, 'session') : null, one.window ? 'window ' + short(one.window) : null].filter(Boolean).map(t => el('span', null, t)))
    fill(byId('why'), (this.why || []).map(t => el('li', null, line(t, 400))))
    document.addEventListener('keydown', e => this.key(e))
    if (this.answers.length) this.steps()
    else this.store()
    this.choose(this.chosen)
    if (this.answers.length) this.go(this.runs[this.chosen].missed[0]?.request ?? this.answers.length - 1)
    document.documentElement.dataset.ready = 'true'
  }

  // steps prepares what a single session has.
  steps() {
    this.list = new Windowed(byId('seen-scroll'), byId('seen-space'), { draw: i => this.row(this.seen[i]), fixed: 26, over: 300 })
    const plot = byId('plot'), to = e => this.go(this.lines.at(e.clientX - plot.getBoundingClientRect().left))
    plot.addEventListener('pointerdown', to)
    plot.addEventListener('pointermove', e => { if (e.buttons & 1) to(e) })
    byId('earlier').addEventListener('click', () => this.go(this.at - 1))
    byId('later').addEventListener('click', () => this.go(this.at + 1))
    byId('removed').addEventListener('click', () => this.gone())
    new ResizeObserver(() => this.draw()).observe(plot)
  }

  // store prepares what several sessions have: no requests, but spreads.
  store() {
    document.body.classList.add('sim-total')
    byId('spread').hidden = !this.acted
    byId('spread-title').textContent = `By session, of the ${whole(this.acted)} in which a policy changed anything: quarters, median, and 95 of 100`
    if (this.acted) drawSpreads(byId('spreads'), this.runs)
    byId('differing').hidden = !this.differing.length
    const cells = d => [whole(d.requests), ...[d.least, d.most].flatMap(x => [line(x.policy, 60), dollars(x.cost), whole(x.regrets)])]
    fill(byId('pairs'), el('thead', null, el('tr', null, ['Session', 'Requests', 'Cheapest', 'Cost', 'Regrets', 'Most expensive', 'Cost', 'Regrets'].map(n => el('th', { scope: 'col' }, n)))),
      el('tbody', null, this.differing.map(d => el('tr', null, el('th', { scope: 'row', class: 'sim-file', dir: 'auto' }, line(d.file, 200)), cells(d).map(text => el('td', null, text))))))
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return
    const scrolls = e.target.matches('.sim-panes .scroll'), last = this.answers.length - 1
    const to = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, PageUp: this.at - 10, PageDown: this.at + 10, Home: 0, End: last }[e.key]
    const by = { ArrowUp: -1, ArrowDown: 1 }[e.key]
    const missed = this.runs[this.chosen].missed.map(m => m.request)
    if (to !== undefined && last >= 0 && (!scrolls || e.key === 'ArrowLeft' || e.key === 'ArrowRight')) this.go(to)
    else if (by && !scrolls) this.choose((this.chosen + by + this.runs.length) % this.runs.length)
    else if (e.key === 'n') this.go(missed.find(k => k > this.at) ?? this.at)
    else if (e.key === 'p') this.go(missed.findLast(k => k < this.at) ?? this.at)
    else if (e.key === 'r') this.gone()
    else if (e.key === 'd') theme(true)
    else return
    e.preventDefault()
  }

  draw() {
    this.lines = drawLines(byId('plot'), this.runs, this.chosen)
    this.lines.mark(this.at)
  }

  table() {
    fill(byId('policies'), el('thead', null, el('tr', null, el('th', { scope: 'col' }, 'Policy'), columns.map(c => el('th', { scope: 'col', class: c.minor && 'minor' }, c.name)))),
      el('tbody', null, this.billed(), this.runs.map((r, i) => el('tr', { class: i === this.chosen ? 'sim-chosen' : null, onclick: () => this.choose(i) },
        el('th', { scope: 'row' }, el('button', { type: 'button', 'aria-pressed': String(i === this.chosen) }, el('span', { class: 'sim-key', css: tint(r, i) }), el('span', { class: 'sim-name' }, line(nameOf(r), 60))), r.policy === this.best && this.runs.length > 1 ? el('span', { class: 'tag' }, 'best') : null),
        columns.map(c => el('td', { class: [c.minor && 'minor', c.bad?.(r) && 'bad'].filter(Boolean).join(' ') || null }, c.of(r)))))))
  }

  // billed is the row of what was paid.
  billed() {
    const billed = this.runs[0].billed
    if (!billed) return null
    const cells = { Cost: spent(billed.cost, billed.recorded), 'Hit rate': percent(billed.hitRate) }
    return el('tr', { class: 'sim-billed' }, el('th', { scope: 'row' }, 'as billed'), columns.map(c => el('td', { class: c.minor && 'minor' }, cells[c.name] ?? '')))
  }

  choose(i) {
    const focused = byId('policies').contains(document.activeElement)
    this.chosen = i
    this.table()
    if (focused) byId('policies').querySelectorAll('button')[i].focus()
    drawFrontier(byId('front'), this.runs, i, cost, k => this.choose(k))
    if (!this.answers.length) return
    this.draw()
    this.show()
  }

  go(k) {
    if (!this.answers.length) return
    this.at = Math.max(0, Math.min(this.answers.length - 1, k))
    this.lines?.mark(this.at)
    this.show()
  }

  gone() {
    byId('removed').setAttribute('aria-pressed', String(byId('removed').getAttribute('aria-pressed') !== 'true'))
    this.show()
  }

  // replay sets which messages the chosen policy has removed by the request, and what stands in
  // place of others.
  replay() {
    const run = this.runs[this.chosen]
    this.lost = new Map()
    this.stands = new Map()
    for (let k = 0; k <= this.at; k++) {
      for (const [message, text, tokens, replaced] of run.changes[k] || []) {
        for (const m of replaced || []) { this.lost.set(m, k); this.stands.delete(m) }
        if (replaced) this.lost.delete(message)
        if (text === null) { this.lost.set(message, k); this.stands.delete(message) } else if (text !== '' || replaced) this.stands.set(message, { text, tokens, summary: !!replaced })
      }
    }
  }

  show() {
    const run = this.runs[this.chosen], all = byId('removed').getAttribute('aria-pressed') === 'true'
    this.replay()
    this.seen = []
    let sent = 0
    for (let m = this.answers[this.at] - 1; m >= 0; m--) {
      const there = this.messages[m].sent && !this.lost.has(m)
      if (there) sent++
      if (there || all && this.messages[m].sent) this.seen.push(m)
    }
    const over = run.over.includes(this.at)
    fill(byId('step'), `${line(run.policy, 60)}, request ${whole(this.at)}: ${short(run.sizes[this.at] || 0)} tokens, ${dollars(run.costs[this.at] || 0)}`, over && el('span', { class: 'tag warn' }, 'over the window'))
    byId('what').textContent = [count(sent, 'message'), this.lost.size ? `${whole(this.lost.size)} gone` : null, this.stands.size ? `${whole(this.stands.size)} replaced` : null, run.why[this.at] ? 'acted: ' + run.why[this.at] : null].filter(Boolean).join(' · ')
    byId('earlier').disabled = this.at === 0
    byId('later').disabled = this.at === this.answers.length - 1
    this.list.set(this.seen.length)
    const missed = run.missed.filter(m => m.request === this.at), next = run.missed.find(m => m.request > this.at), changes = run.changes[this.at] || []
    fill(byId('side'), el('h3', null, count(missed.length, 'regret') + ' here'), missed.map(m => this.missed(m)),
      next ? el('button', { class: 'link', type: 'button', onclick: () => this.go(next.request) }, `Next regret: request ${whole(next.request)}`) : null,
      el('h3', null, 'Changes before this request'), changes.slice(0, 200).map(c => this.change(c)), changes.length > 200 ? el('p', { class: 'mute' }, `and ${whole(changes.length - 200)} more`) : null, changes.length ? null : el('p', { class: 'mute' }, 'none'))
  }

  change([m, text, now, replaced]) {
    const was = (replaced || [m]).reduce((n, i) => n + this.messages[i].tokens, 0)
    return el('p', { class: 'sim-change' }, el('b', null, replaced ? `${count(replaced.length, 'message')} → summary` : line(this.messages[m].text || this.messages[m].kind, 80)), el('span', { class: 'mute' }, text === null ? ' removed' : ` ${short(was)} → ${short(now)} tokens`))
  }

  missed(m) {
    return el('p', { class: 'sim-change' }, el('b', null, `${m.kind} ${line(m.what, 120)}`), el('span', { class: 'mute' }, ` of line ${m.line} in the session, removed before request ${m.removed}`))
  }

  row(i) {
    const m = this.messages[i], lost = this.lost.has(i), now = lost ? undefined : this.stands.get(i)
    const text = line(now ? now.text : m.text, 400), kind = now?.summary ? 'summary' : names[m.kind] || m.kind
    return el('div', { class: 'sim-row' + (now ? ' sim-edited' : '') + (lost ? ' sim-lost' : ''), 'data-line': m.line },
      el('span', { class: 'sim-kind mute' }, kind), el('span', { class: 'sim-text', dir: 'auto', title: text }, text),
      el('span', { class: 'sim-line-number mute num' }, lost ? `gone at ${this.lost.get(i)}` : 'line ' + m.line), el('span', { class: 'sim-tokens num mute' }, short(now ? now.tokens : m.tokens)))
  }
}

begin(new Simulation())
