// Elements and texts. All content of a session goes into the page as text nodes.

const svgNames = new Set(['svg', 'path', 'line', 'rect', 'g', 'circle', 'text'])

// el returns a new element: el('div', {class: 'a', onclick: f}, 'text', child).
export function el(name, attrs, ...children) {
  const node = svgNames.has(name) ? document.createElementNS('http:' + '//www.w3.org/2000/svg', name) : document.createElement(name)
  for (const key in attrs) {
    const value = attrs[key]
    if (value === undefined || value === null || value === false) continue
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value)
    else if (key === 'css') for (const name in value) node.style.setProperty(name, value[name])
    else node.setAttribute(key, value === true ? '' : value)
  }
  add(node, children)
  return node
}

export function add(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) add(node, child)
    else if (child !== undefined && child !== null && child !== false) node.append(child)
  }
  return node
}

export function fill(node, ...children) {
  node.replaceChildren()
  return add(node, children)
}

export const byId = id => document.getElementById(id)

// Control characters, and those that change the direction of text: they are invisible and
// mislead.
const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])/g
const misleading = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

// worded returns any value of a session as text. String would call an object's own toString,
// which may be anything.
export const worded = value => value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value)

export function clean(text) {
  return worded(text).replace(/\r\n?/g, '\n').replace(escapes, '').replace(misleading, '\ufffd')
}

// line returns the beginning of a text on one line.
export function line(text, most = 200) {
  const cut = worded(text).slice(0, most * 4)
  const flat = clean(cut).replace(/\s+/g, ' ').trim()
  return flat.length > most ? flat.slice(0, most) + '…' : flat
}

// short returns a number of tokens as text: 950, 1.3k, 2m.
export function short(n) {
  const unit = (div, suffix) => (n / div).toFixed(1).replace(/\.0$/, '') + suffix
  if (n >= 1e6) return unit(1e6, 'm')
  return n >= 1e3 ? unit(1e3, 'k') : String(n)
}

export const whole = n => n.toLocaleString('en-US')
export const count = (n, thing) => `${whole(n)} ${thing}${n === 1 ? '' : 's'}`
export const percent = share => share === 0 ? '0%' : `${(100 * share).toFixed(share > 0.995 && share < 1 || share < 0.1 ? 1 : 0)}%`

export const dollars = d => d === 0 ? '$0' : '$' + d.toFixed(d < 0.1 ? 4 : 2)

// spent returns a cost, marked where not all of it is recorded.
export const spent = (cost, recorded) => (recorded < cost ? '~' : '') + dollars(cost)

// lacking says which sub-agents are not in a cost, after it.
export const lacking = of => (of.noSubagents ? ' without sub-agents' : '') + (of.unreadSubagents ? ` without ${count(of.unreadSubagents, 'sub-agent')} that cannot be read` : '')

export function moment(ms, withDay = true) {
  if (ms === undefined) return ''
  const iso = new Date(ms).toISOString()
  return withDay ? `${iso.slice(0, 10)} ${iso.slice(11, 19)}` : iso.slice(11, 19)
}

const icons = {
  link: 'M6.5 9.5l3-3M7 4.5l1-1a2.8 2.8 0 0 1 4 4l-1 1M9 11.5l-1 1a2.8 2.8 0 0 1-4-4l1-1',
  warn: 'M8 2.5 14 13H2ZM8 6.5v3M8 11.2v.3', copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
}

export function icon(name) {
  return el('svg', { viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true', class: 'icon' }, el('path', { d: icons[name] }))
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const box = el('textarea', { class: 'offscreen' })
    box.value = text
    document.body.append(box)
    box.select()
    document.execCommand('copy')
    box.remove()
  }
  say('Copied')
}

let saying
// say shows a message for a moment, also to screen readers.
export function say(text) {
  const box = byId('said')
  box.textContent = text
  box.classList.add('shown')
  clearTimeout(saying)
  saying = setTimeout(() => box.classList.remove('shown'), 1600)
}

// theme shows the page in the colours that the reader chose, or with next in the other ones.
export function theme(next) {
  const root = document.documentElement, dark = matchMedia('(prefers-color-scheme: dark)').matches
  let name = ''
  try { name = localStorage.getItem('ctxtool-theme') || '' } catch { /* without a store */ }
  if (next) {
    name = (root.dataset.theme || (dark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark'
    try { localStorage.setItem('ctxtool-theme', name) } catch { /* likewise */ }
  }
  if (name === 'dark' || name === 'light') root.dataset.theme = name
}

// begin runs the program of a page, and says so if that fails.
export function begin(app) {
  globalThis.ctxtool = app
  byId('theme').addEventListener('click', () => theme(true))
  theme(false)
  app.start().catch(e => {
    document.documentElement.dataset.ready = 'failed'
    byId('title').textContent = 'This page cannot be shown: ' + e.message
    throw e
  })
}
