// Differences of texts, line by line.
import { clean, el } from './dom.js'

const mostWork = 4_000_000 // cells of the table that lines are compared in

// difference returns lines as [sign, text], with the sign '+', '-' or ' '. Lines of a tool's
// own diff have their number, too.
export function difference(was, is) {
  const a = clean(was).split('\n'), b = clean(is).split('\n')
  let head = 0, tail = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const out = a.slice(0, head).map(text => [' ', text])
  middle(out, a.slice(head, a.length - tail), b.slice(head, b.length - tail))
  for (const text of a.slice(a.length - tail)) out.push([' ', text])
  return out
}

// middle compares by the longest common subsequence, unless that takes too long.
function middle(out, a, b) {
  const n = a.length, m = b.length
  if (n * m > mostWork) {
    for (const text of a) out.push(['-', text])
    for (const text of b) out.push(['+', text])
    return
  }
  const width = m + 1, best = new Uint32Array((n + 1) * width)
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      best[i * width + j] = a[i] === b[j] ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1])
    }
  }
  let i = 0, j = 0
  while (i < n || j < m) {
    if (i < n && j < m && a[i] === b[j]) { out.push([' ', a[i]]); i++; j++ }
    else if (i < n && (j === m || best[(i + 1) * width + j] >= best[i * width + j + 1])) out.push(['-', a[i++]])
    else out.push(['+', b[j++]])
  }
}

// near omits what is far from any change.
export function near(lines, around = 3) {
  const keep = new Uint8Array(lines.length)
  lines.forEach(([sign], i) => {
    if (sign !== ' ') keep.fill(1, Math.max(0, i - around), Math.min(lines.length, i + around + 1))
  })
  const out = []
  for (let i = 0; i < lines.length; i++) {
    if (keep[i]) out.push(lines[i])
    else {
      let n = 0
      while (i < lines.length && !keep[i]) { i++; n++ }
      i--
      out.push(['…', count(n)])
    }
  }
  return out
}

const count = n => `${n} line${n === 1 ? '' : 's'} unchanged`

// parseDiff parses the diff of a tool: a sign, mostly a number, and the line.
export function parseDiff(text) {
  return clean(text).split('\n').map(line => {
    const at = /^([-+ ]) *(\d+) (.*)$/.exec(line)
    if (at) return [at[1], at[3], at[2]]
    if (/^ *\.\.\. *$/.test(line)) return ['…', '']
    return /^[-+]/.test(line) ? [line[0], line.slice(1)] : [' ', line.replace(/^ /, '')]
  })
}

const words = { '+': 'added', '-': 'removed', '…': 'skipped', ' ': '' }

// drawn returns a difference as elements. Signs repeat what colours show.
export function drawn(lines) {
  const wide = lines.reduce((most, l) => Math.max(most, l[2]?.length || 0), 0)
  return lines.map(([sign, text, number]) => el('span', { class: 'row ' + words[sign] },
    wide > 0 && el('span', { class: 'lineno', 'aria-hidden': 'true' }, (number || '').padStart(wide)), el('span', { class: 'sign' }, sign === '…' ? '⋯' : sign), text + '\n'))
}

export function tally(lines) {
  let added = 0, removed = 0
  for (const [sign] of lines) { if (sign === '+') added++; else if (sign === '-') removed++ }
  return `+${added} −${removed}`
}
