// The drawings of a page that compares policies.
import { dollars, el, fill, line, percent, short, whole } from './dom.js'

// tint is the colour of a policy: the two that no policy made have greys.
export function tint(run, i) {
  if (run.policy === 'recorded') return { '--tint': 'var(--ink)' }
  if (run.policy === 'none') return { '--tint': 'var(--mute)' }
  const hue = (i * 137.5 + 350) % 360
  return { '--tint': `light-dark(oklch(56% .17 ${hue}), oklch(76% .13 ${hue}))` }
}

// agents returns the policies of agents, by which drawings are scaled: without any, a context and
// its cost grow beyond all others.
const agents = runs => {
  const some = runs.filter(r => r.policy !== 'recorded' && r.policy !== 'none')
  return some.length ? some : runs
}

// ticks are round numbers from 0 to at most n, three to six.
function ticks(n) {
  const rough = n / 4, unit = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 2.5, 5, 10].find(m => m * unit >= rough) * unit
  return Array.from({ length: Math.floor(n / step) + 1 }, (_, i) => i * step)
}

const height = 240, lane = 12, left = 46, right = 14

// drawLines draws the context of each policy by request, and below where it acted and what was
// missed. It returns the request at a place, and a function that marks one.
export function drawLines(box, runs, chosen) {
  const width = Math.max(left + right + 1, box.clientWidth), n = runs[0].sizes.length, inner = width - left - right
  const lanes = runs.map((r, i) => i).filter(i => runs[i].missed.length || Object.keys(runs[i].changes).length)
  const total = height + 18 + lane * lanes.length
  const window = runs[0].window || 0
  const largest = some => some.reduce((n, r) => r.sizes.reduce((m, v) => Math.max(m, v), n), 1)
  const all = largest(runs), fit = Math.max(window, largest(agents(runs)))
  const top = 1.04 * (all > 3 * fit ? 1.5 * fit : window && window < all * 3 ? Math.max(window, all) : all) // what does not fit at all leaves the chart
  const x = k => left + (k + 0.5) * inner / n, y = v => 6 + (height - 12) * (1 - v / top)
  const path = sizes => {
    const points = Math.min(n, Math.ceil(inner)), d = []
    for (let b = 0; b < points; b++) {
      const from = Math.floor(b * n / points), to = Math.max(from + 1, Math.floor((b + 1) * n / points))
      let k = from
      for (let i = from; i < to; i++) if (sizes[i] > sizes[k]) k = i
      d.push(`${b ? 'L' : 'M'}${x(k).toFixed(1)} ${y(sizes[k]).toFixed(1)}`)
    }
    return d.join('')
  }
  const places = requests => [...new Set(requests.map(k => Math.round(x(k))))]
  const marks = (i, at) => el('g', { class: 'sim-lane', css: tint(runs[i], i) },
    el('path', { class: 'sim-rail', d: `M${left} ${at}H${width - right}` }),
    el('rect', { class: 'sim-swatch', x: left - 14, y: at - 4, width: 8, height: 8, rx: 2 }),
    el('path', { class: 'sim-missed', d: places(runs[i].missed.map(m => m.request)).map(p => `M${p - 2.5} ${at}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0`).join('') }),
    el('path', { class: 'sim-acts', d: places(Object.keys(runs[i].changes).map(Number)).map(p => `M${p} ${at - 4}v8`).join('') }))
  const playhead = el('line', { class: 'playhead', y1: 0, y2: total })
  const order = runs.map((_, i) => i).sort((a, b) => (a === chosen) - (b === chosen))
  const text = (at, to, cls, said) => el('text', { class: 'sim-label ' + cls, x: at, y: to }, said)
  fill(box, el('svg', { width, height: total, viewBox: `0 0 ${width} ${total}`, 'aria-hidden': 'true' },
    ticks(top).map(v => [el('path', { class: 'sim-grid', d: `M${left} ${y(v).toFixed(1)}H${width - right}` }), text(left - 8, y(v) + 4, 'sim-end', short(v))]),
    window && window <= top ? [el('line', { class: 'window', x1: left, x2: width - right, y1: y(window), y2: y(window) }), text(left + 4, y(window) - 4, 'sim-bad', 'window ' + short(window))] : null,
    order.map(i => el('path', { class: i === chosen ? 'sim-line sim-chosen' : 'sim-line', css: tint(runs[i], i), d: path(runs[i].sizes) })),
    text(left, height + 10, '', '0'), text(width - right, height + 10, 'sim-end', whole(n - 1)),
    lanes.map((i, at) => marks(i, height + 18 + lane * at + lane / 2)), playhead))
  box.style.setProperty('height', total + 'px')
  return {
    at: place => Math.floor((place - left) / inner * n),
    mark(k) {
      playhead.setAttribute('x1', x(k))
      playhead.setAttribute('x2', x(k))
      box.setAttribute('aria-valuemax', n - 1)
      box.setAttribute('aria-valuenow', k)
      box.setAttribute('aria-valuetext', `Request ${k}`)
    },
  }
}

// drawFrontier draws the policies by cost and regrets, and the line of those that no other beats
// in both.
export function drawFrontier(box, runs, chosen, cost, choose) {
  const width = 380, h = 240, foot = 24, side = 46
  const most = (some, f) => Math.max(1e-9, ...some.map(f)), costOf = r => r.cost.total, fit = most(agents(runs), costOf)
  const c = 1.08 * (most(runs, costOf) > 3 * fit ? 1.5 * fit : most(runs, costOf)), g = Math.max(1, 1.08 * most(runs, r => r.regrets))
  const x = v => side + (width - side - 12) * Math.min(v, c) / c, y = v => h - foot - (h - foot - 12) * v / g
  const at = r => [x(r.cost.total), y(r.regrets)]
  const beats = (o, r) => o.cost.total <= r.cost.total && o.regrets <= r.regrets && (o.cost.total < r.cost.total || o.regrets < r.regrets)
  const front = runs.filter(r => !runs.some(o => beats(o, r))).sort((a, b) => a.cost.total - b.cost.total)
  const placed = runs.map(at).map(([px, py]) => ({ from: px - 6, to: px + 6, down: py + 4 }))
  const label = (r, i) => { // where it covers no point and no other label, if there is such a place
    const said = line(r.policy, 24) + (r.cost.total > c ? ` → ${cost(r)}` : ''), long = said.length * 7, [dx, dy] = at(r)
    const places = [4, 16, -8, -20].flatMap(by => [{ from: dx + 9, down: dy + by }, { from: dx - 9 - long, down: dy + by }])
    const free = p => p.from >= 0 && p.from + long <= width && p.down <= h - foot + 4 && !placed.some(o => Math.abs(o.down - p.down) < 12 && o.from < p.from + long && p.from < o.to)
    const { from, down } = places.find(free) || places[0], end = from < dx
    placed.push({ from, to: from + long, down })
    return el('text', { class: i === chosen ? 'sim-label sim-name sim-chosen' : 'sim-label sim-name', x: end ? dx - 9 : dx + 9, y: down, 'text-anchor': end ? 'end' : 'start', onclick: () => choose(i) }, said)
  }
  const order = runs.map((_, i) => i).sort((a, b) => runs[b].regrets - runs[a].regrets)
  fill(box, el('svg', { viewBox: `0 0 ${width} ${h}`, role: 'img', 'aria-label': runs.map(r => `${r.policy}: ${cost(r)}, ${whole(r.regrets)} regrets`).join('; ') },
    ticks(g).filter(Number.isInteger).map(v => [el('path', { class: 'sim-grid', d: `M${side} ${y(v).toFixed(1)}H${width - 12}` }), el('text', { class: 'sim-label sim-end', x: side - 8, y: y(v) + 4 }, short(v))]),
    ticks(c).map(v => el('text', { class: 'sim-label sim-middle', x: x(v), y: h - 6 }, v ? dollars(v) : '$0')),
    el('path', { class: 'sim-frontier', d: front.map((r, i) => `${i ? 'L' : 'M'}${at(r).map(p => p.toFixed(1)).join(' ')}`).join('') }),
    runs.map((r, i) => el('circle', { class: (r.overflows ? 'sim-dot sim-hollow' : 'sim-dot') + (i === chosen ? ' sim-chosen' : ''), css: tint(r, i), cx: at(r)[0], cy: at(r)[1], r: 5, onclick: () => choose(i) })),
    order.map(i => label(runs[i], i))))
}

const figures = [
  ['Cost', 'cost', dollars], ['Peak', 'peak', short], ['Hit rate', 'hitRate', percent], ['Regrets', 'regrets', whole],
]

// drawSpreads draws how the figures of each policy differ from session to session.
export function drawSpreads(box, runs) {
  fill(box, figures.map(([name, key, text]) => {
    const low = Math.min(...runs.map(r => r.spread[key].min)), high = Math.max(low + 1e-9, ...runs.map(r => r.spread[key].p95))
    const x = v => (2 + 196 * (Math.min(v, high) - low) / (high - low)).toFixed(1)
    const drawing = (d, r, i) => el('svg', { viewBox: '0 0 200 16', width: '100%', height: 16, preserveAspectRatio: 'none', 'aria-hidden': 'true', css: tint(r, i) },
      el('path', { class: 'sim-whisker', d: `M${x(d.min)} 8H${x(d.p95)}` }), el('rect', { class: 'sim-box', x: x(d.q1), y: 3, width: Math.max(1, x(d.q3) - x(d.q1)), height: 10 }), el('path', { class: 'sim-median', d: `M${x(d.median)} 2V14` }))
    return el('table', null, el('thead', null, el('tr', null, el('th', { scope: 'col' }, name), el('th', { class: 'sim-drawn', 'aria-hidden': 'true' }), ['25%', 'Median', '75%', '95%'].map(t => el('th', { scope: 'col' }, t)))),
      el('tbody', null, runs.map((r, i) => { const d = r.spread[key]; return el('tr', null, el('th', { scope: 'row' }, line(r.policy, 40)), el('td', { class: 'sim-drawn' }, drawing(d, r, i)), [d.q1, d.median, d.q3, d.p95].map(v => el('td', null, text(v)))) })))
  }))
}
