// Markdown and code as elements. Neither ever becomes HTML: the library's tokens become
// elements one by one, and everything else is text.
import { add, clean, copy, el, icon, worded } from './dom.js'

const most = 120_000 // characters that are read as Markdown or coloured; the rest is plain

let parser
function tokens(text) {
  parser ||= globalThis.markdownit({ html: false, linkify: false, typographer: false })
  return parser.parse(text, {})
}

export function markdown(text) {
  const box = el('div', { class: 'prose', dir: 'auto' })
  const shown = clean(text)
  try {
    blocks(box, tokens(shown.slice(0, most)))
  } catch {
    box.replaceChildren(el('pre', { class: 'plain' }, shown.slice(0, most)))
  }
  if (shown.length > most) box.append(el('pre', { class: 'plain' }, shown.slice(most, 4 * most)))
  return box
}

const inside = { h1: 'h3', h2: 'h4', h3: 'h5', h4: 'h6', h5: 'h6', h6: 'h6' }
const allowed = new Set(['p', 'ul', 'ol', 'li', 'blockquote', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'hr', 'em', 'strong', 's', 'br', 'h3', 'h4', 'h5', 'h6'])

function blocks(box, list) {
  const open = [box]
  for (const token of list) {
    const at = open[open.length - 1]
    if (token.type === 'inline') { inline(at, token.children); continue }
    if (token.type === 'fence' || token.type === 'code_block') {
      at.append(code(token.content.replace(/\n$/, ''), token.info?.trim().split(/\s/)[0] || ''))
      continue
    }
    if (token.nesting < 0) { open.pop(); continue }
    if (token.hidden) { if (token.nesting > 0) open.push(at); continue }
    nest(open, at, token)
  }
}

function nest(open, at, token) {
  const name = inside[token.tag] || token.tag
  if (!allowed.has(name)) { if (token.nesting > 0) open.push(at); return }
  const node = el(name)
  const start = token.attrGet && token.attrGet('start')
  if (name === 'ol' && start) node.setAttribute('start', String(parseInt(start, 10) || 1))
  if (name === 'table') at.append(el('div', { class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'Table' }, node))
  else at.append(node)
  if (token.nesting > 0) open.push(node)
}

function inline(box, list) {
  const open = [box]
  for (const token of list || []) {
    const at = open[open.length - 1]
    switch (token.type) {
      case 'text': at.append(token.content); break
      case 'softbreak': at.append('\n'); break
      case 'hardbreak': at.append(el('br')); break
      case 'code_inline': at.append(el('code', null, token.content)); break
      case 'image': at.append(link(token.attrGet('src') || '', [el('span', { class: 'mute' }, 'image: '), token.content || token.attrGet('src')])); break
      case 'link_open': { const node = link(token.attrGet('href') || '', []); at.append(node); open.push(node); break }
      case 'link_close': open.pop(); break
      default:
        if (token.nesting < 0) open.pop()
        else if (token.nesting > 0) { const node = el(allowed.has(token.tag) ? token.tag : 'span'); at.append(node); open.push(node) } else at.append(token.content)
    }
  }
}

// link returns a link that opens only after the reader has seen its address.
export function link(url, children) {
  return add(el('button', { class: 'link', type: 'button', 'data-url': url, 'aria-haspopup': 'dialog' }), children)
}

// code returns a block of code, coloured, with a button to copy it.
export function code(text, language, attrs) {
  const box = el('div', { class: 'code', ...attrs })
  if (language) box.append(el('span', { class: 'code-name', 'aria-hidden': 'true' }, language))
  box.append(el('button', { class: 'quiet code-copy', type: 'button', 'aria-label': 'Copy code', onclick: () => copy(text) }, icon('copy')))
  box.append(el('pre', { tabindex: 0 }, coloured(text, language)))
  return box
}

// coloured returns the nodes of a text with its syntax in colour.
export function coloured(text, language) {
  const shown = clean(text)
  const hl = globalThis.hljs
  const name = String(language || '').toLowerCase()
  if (!name || shown.length > most / 2 || !hl.getLanguage(name)) return [document.createTextNode(shown)]
  try {
    return hl.highlight(shown, { language: name, ignoreIllegals: true })._emitter.rootNode.children.map(span)
  } catch {
    return [document.createTextNode(shown)]
  }
}

function span(node) {
  if (typeof node === 'string') return document.createTextNode(node)
  const name = node.scope ? 'hl-' + node.scope.split('.')[0] : null
  return el('span', { class: name }, node.children.map(span))
}

// languageOf returns the language of a file by its name.
export function languageOf(path) {
  const name = worded(path || '').split(/[\\/]/).pop()
  if (/^(Makefile|GNUmakefile)$/.test(name)) return 'makefile'
  const ext = name.includes('.') ? name.split('.').pop().toLowerCase() : ''
  return { mjs: 'js', cjs: 'js', jsonl: 'json', toml: 'ini', htm: 'html', svg: 'xml' }[ext] || ext
}
