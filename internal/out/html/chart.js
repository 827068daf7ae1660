// The chart of all requests of the path: the size of the context, its cached share, its cost,
// and what changed it.
import { byId, dollars, el, fill, percent, short } from './dom.js'

const height = 76, costs = 14 // pixels, of it those of the bars below
const letters = { compaction: 'C', context_transform: 'T', context_edit: 'E', model_change: 'M' }
const markNames = { C: 'Compaction', T: 'Transform', E: 'Edit', M: 'Model' }

export class Chart {
  constructor(app) {
    Object.assign(this, { app, model: app.model, box: byId('chart-plot'), marks: byId('chart-marks'), tip: byId('chart-tip') })
    const at = e => this.stepAt(e.clientX - this.box.getBoundingClientRect().left)
    this.box.addEventListener('pointermove', e => { this.hover(at(e)); if (e.buttons & 1) this.app.select(this.app.steps[at(e)], { quick: true }) })
    this.box.addEventListener('pointerleave', () => { this.tip.hidden = true })
    this.box.addEventListener('pointerdown', e => { if (this.app.steps.length) this.app.select(this.app.steps[at(e)]) })
    this.box.addEventListener('keydown', e => {
      const to = { Home: 0, End: this.app.steps.length - 1, PageUp: this.app.at - 10, PageDown: this.app.at + 10 }[e.key]
      if (to === undefined || !this.app.steps.length) return
      e.preventDefault()
      this.app.select(this.app.steps[Math.max(0, Math.min(this.app.steps.length - 1, to))])
    })
    new ResizeObserver(() => this.draw()).observe(this.box)
  }

  stepAt(x) { return Math.max(0, Math.min(this.app.steps.length - 1, x / this.width * this.app.steps.length | 0)) }

  // cached returns the share of a request that came from the cache, or could have.
  cached(step) {
    const c = this.model.cache[step]
    if (!c || !c.prompt) return 0
    return Math.min(1, (c.answered ? c.read || 0 : c.shared) / c.prompt)
  }

  draw() {
    const { app, model } = this, steps = app.steps, width = this.width = Math.max(1, this.box.clientWidth)
    byId('chart').hidden = steps.length < 2
    if (steps.length < 2) return
    const n = Math.min(steps.length, width), size = new Float64Array(n), hit = new Float64Array(n), cost = new Float64Array(n)
    steps.forEach((step, i) => {
      const b = i * n / steps.length | 0, t = model.size(step)
      if (t >= size[b]) { size[b] = t; hit[b] = t * this.cached(step) }
      cost[b] = Math.max(cost[b], model.index.cost[model.steps.entry[step]] || 0)
    })
    const window = Math.max(...new Set(steps.slice(-1).map(s => model.steps.models[model.steps.model[s]]?.window || 0)))
    const most = size.reduce((a, b) => Math.max(a, b), 1), top = window && window < most * 3 ? Math.max(window, most) : most
    const y = v => (height - costs - 4) * (1 - v / top / 1.05) + 2, x = b => b * width / n
    const area = values => {
      let d = `M0 ${height - costs}`
      values.forEach((v, b) => { d += `L${x(b).toFixed(1)} ${y(v).toFixed(1)}L${x(b + 1).toFixed(1)} ${y(v).toFixed(1)}` })
      return d + `L${width} ${height - costs}Z`
    }
    const highest = cost.reduce((a, b) => Math.max(a, b), 0)
    let bars = ''
    if (highest) cost.forEach((v, b) => { if (v > 0) bars += `M${(x(b + 0.5)).toFixed(1)} ${height}v${(-Math.max(1, (costs - 3) * v / highest)).toFixed(1)}` })
    const wide = Math.max(1, Math.min(6, width / n - 1))
    this.playhead = el('line', { class: 'playhead', y1: 0, y2: height })
    fill(this.box, el('svg', { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true', preserveAspectRatio: 'none' },
      el('path', { class: 'area-size', d: area(size) }), el('path', { class: 'area-hit', d: area(hit) }),
      window && window <= top ? el('line', { class: 'window', x1: 0, x2: width, y1: y(window), y2: y(window) }) : null,
      el('path', { class: 'bars', d: bars, 'stroke-width': wide }), this.playhead))
    byId('chart-max').textContent = short(window && window <= top ? window : most)
    this.setMarks()
    this.mark()
  }

  // setMarks puts a button where something changed the context; those that would overlap are
  // one.
  setMarks() {
    const { app, model } = this, steps = app.steps, all = []
    let next = 0
    for (const row of app.path) {
      if (next < steps.length && model.steps.entry[steps[next]] === row) {
        const broken = model.cache[steps[next]]?.break
        if (broken?.again && !all.some(m => m.at === next)) all.push({ at: next, letter: '!', row, name: 'Cache broken: ' + broken.cause })
        next++
      }
      const letter = letters[model.kind(row)]
      if (letter && !(letter === 'M' && next === 0)) all.push({ at: Math.min(next, steps.length - 1), letter, row, name: `${markNames[letter]} ${model.id(row)}` })
    }
    const groups = []
    for (const mark of all) {
      const x = (mark.at + 0.5) / steps.length * this.width, last = groups[groups.length - 1]
      if (last && x - last.x < 15) last.marks.push(mark)
      else groups.push({ x, marks: [mark] })
    }
    const rank = 'CTEM!'
    fill(this.marks, groups.map(({ x, marks }) => {
      const best = marks.reduce((a, b) => rank.indexOf(b.letter) < rank.indexOf(a.letter) ? b : a)
      const name = best.name + (marks.length > 1 ? ` and ${marks.length - 1} more` : '')
      return el('button', { class: 'mark mark-' + (best.letter === '!' ? 'break' : best.letter), type: 'button', title: name, 'aria-label': name, tabindex: -1, 'data-row': best.row, css: { left: Math.max(8, Math.min(this.width - 8, x)) + 'px' }, onclick: () => app.goto(best.row) }, best.letter)
    }))
    if (this.marks.firstChild) this.marks.firstChild.tabIndex = 0
    this.marks.onkeydown = e => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key], list = [...this.marks.children], i = list.indexOf(document.activeElement)
      if (!by || i < 0) return
      e.preventDefault()
      e.stopPropagation()
      const to = list[Math.max(0, Math.min(list.length - 1, i + by))]
      list[i].tabIndex = -1
      to.tabIndex = 0
      to.focus()
    }
  }

  // mark moves the line of the selected request.
  mark() {
    const { app } = this
    if (!this.playhead || app.at < 0) return
    const x = (app.at + 0.5) / app.steps.length * this.width
    this.playhead.setAttribute('x1', x)
    this.playhead.setAttribute('x2', x)
    this.box.setAttribute('aria-valuemax', app.steps.length - 1)
    this.box.setAttribute('aria-valuenow', app.at)
    this.box.setAttribute('aria-valuetext', this.words(app.at))
  }

  words(i) {
    const { model, app } = this, step = app.steps[i], c = model.cache[step], row = model.steps.entry[step]
    const facts = [row < 0 ? 'Next request' : `Request ${model.steps.request[step]}`, short(model.size(step)) + ' tokens']
    if (c?.answered && c.prompt > 0) facts.push(percent((c.read || 0) / c.prompt) + ' cached')
    if (row >= 0 && model.index.cost[row]) facts.push(dollars(model.index.cost[row]))
    if (c?.break) facts.push('cache broken: ' + c.break.cause)
    return facts.join(' · ')
  }

  hover(i) {
    if (!this.app.steps.length) return
    this.tip.textContent = this.words(i)
    this.tip.hidden = false
    const x = (i + 0.5) / this.app.steps.length * this.width, half = this.tip.offsetWidth / 2
    this.tip.style.left = Math.max(half, Math.min(this.width - half, x)) + 'px'
  }
}
