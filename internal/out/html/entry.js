// Entries as elements: texts, calls and changes.
import { clean, copy, count, el, icon, line, short, worded } from './dom.js'
import { difference, drawn, near, tally, parseDiff } from './diff.js'
import { code, coloured, languageOf, markdown } from './markdown.js'

// textOf returns the text of a message, one block below the other.
export function textOf(message) {
  const content = message?.content
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map(block => block && typeof block.text === 'string' ? block.text : '').filter(Boolean).join('\n')
}

// gist returns an entry, or a message without one, on a line.
export function gist(kind, value) {
  if (!value) return ''
  if (value.broken) return 'cannot be shown: ' + value.broken
  const m = value.message && typeof value.message === 'object' ? value.message : value
  switch (kind) {
    case 'assistant': return said(m)
    case 'toolResult': return line(textOf(m))
    case 'bashExecution': return '$ ' + line(m.command ?? textOf(m))
    case 'compaction': case 'branch_summary': case 'compactionSummary': case 'branchSummary': return words(m.summary ?? textOf(m))
    case 'context_edit': return edited(value)
    case 'context_transform': return [value.transformerName || value.display?.title, ...ops(value).map(op => op?.op)].filter(Boolean).map(x => line(x)).join(' · ')
    case 'ephemeral': return (Array.isArray(value.messages) ? value.messages : []).map(x => line(textOf(x))).join(' · ')
    case 'model_change': return line(`${worded(value.provider ?? '')}/${worded(value.modelId ?? '')}`)
    case 'thinking_level_change': return line(value.thinkingLevel ?? '')
    case 'label': return value.label ? `“${line(value.label)}”` : 'cleared'
    case 'session_info': return line(value.name ?? '')
    case 'usage': return line(value.kind ?? '')
    case 'system': return sets(m).join(' · ') || line(textOf(m))
    case 'custom': case 'custom_message': return line([value.customType ?? m.customType, textOf(m)].filter(Boolean).map(worded).join(': '))
    case 'unknown': return 'type ' + line(value.type ?? '')
    case 'scalar': return line(JSON.stringify(value))
  }
  return words(textOf(m)) || (hasImage(m) ? '[image]' : '')
}

// words returns the beginning of Markdown on a line, without most of its marks.
const words = text => line(worded(text).slice(0, 900).replace(/^[ \t]*(#+|>|[-*] |```.*)[ \t]*/gm, '').replace(/\*\*|`/g, ''))

const hasImage = m => Array.isArray(m.content) && m.content.some(b => b?.type === 'image')
const ops = value => Array.isArray(value.patch) ? value.patch : []

function said(m) {
  const text = words(textOf(m))
  if (text) return text
  const calls = (Array.isArray(m.content) ? m.content : []).filter(b => b?.type === 'toolCall')
  if (calls.length) return calls.map(c => `${line(c.name ?? '?', 40)} ${line(subject(c), 80)}`).join(' · ')
  if (m.errorMessage) return line(m.errorMessage)
  const thought = (Array.isArray(m.content) ? m.content : []).find(b => b?.type === 'thinking')
  return thought ? line(thought.thinking ?? '') : ''
}

function edited(value) {
  const target = line(value.targetId ?? '')
  if (value.replacement === null) return 'omits ' + target
  return value.replacement ? `rewrites ${target}: ${line(textOf(value.replacement))}` : `no change of ${target}`
}

// sets returns the names of what a system message sets.
function sets(m) {
  const all = []
  if (textOf(m)) all.push('content')
  for (const name in m.sections && typeof m.sections === 'object' ? m.sections : {}) all.push(m.sections[name] === null ? '−' + line(name) : line(name))
  for (const t of Array.isArray(m.toolsAdded) ? m.toolsAdded : []) all.push('+' + line(t?.name ?? ''))
  for (const t of Array.isArray(m.toolsRemoved) ? m.toolsRemoved : []) all.push('−' + line(t?.name ?? ''))
  return all
}

// subject returns what describes a call best: the argument that its row names, or a text.
export function subject(call) {
  if (typeof call?.subject === 'string') return call.subject
  const args = call?.arguments, value = args && typeof args === 'object' ? args[call.about] : args
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
}

// json returns a value as indented JSON, without what is nested too deep.
export function json(value, deepest = 12) {
  const lines = []
  const write = (v, pad, depth, before, after) => {
    if (lines.length > 2000) return
    if (v === null || typeof v !== 'object') { lines.push(pad + before + JSON.stringify(v) + after); return }
    const list = Array.isArray(v), names = list ? v : Object.keys(v)
    const [open, close] = list ? '[]' : '{}'
    if (names.length === 0 || depth > deepest) { lines.push(pad + before + open + (names.length ? ' … ' : '') + close + after); return }
    lines.push(pad + before + open)
    names.forEach((x, i) => write(list ? x : v[x], pad + '  ', depth + 1, list ? '' : JSON.stringify(x) + ': ', i < names.length - 1 ? ',' : ''))
    lines.push(pad + close + after)
  }
  write(value, '', 0, '', '')
  return lines.join('\n')
}

const mostText = 400_000 // characters of an output that can be unfolded
const longest = 24_000 // characters of a text that show before it is unfolded

const pictures = /^image\/(png|jpeg|gif|webp)$/

function image(block) {
  if (pictures.test(worded(block.mimeType)) && typeof block.data === 'string' && /^[A-Za-z0-9+/=\s]+$/.test(block.data)) {
    return el('img', { class: 'picture', loading: 'lazy', alt: 'Image in the message', src: `data:${block.mimeType};base64,${block.data}` })
  }
  return el('p', { class: 'mute' }, `Image ${line(block.mimeType ?? 'of no type', 60)}, not shown`)
}

// A Drawer draws entries. opened has what the reader has unfolded, call the call that a
// result belongs to, and answered the calls of an answer without results.
export class Drawer {
  constructor({ model, call, answered, goto, near = text => text }) {
    Object.assign(this, { model, call, answered, goto, near })
    this.opened = new Map()
    this.outputs = true
    this.thoughts = false
  }

  // more returns a text of which the first lines are shown until it is unfolded.
  more(key, text, { lines = 12, nodes, cls = '', unit = 'line' }) {
    const all = clean(text.slice(0, mostText)).replace(/\n+$/, '').split('\n')
    const open = this.opened.get(key) ?? (this.outputs && all.length <= lines + 2)
    const cut = !open && !(this.outputs && all.length <= lines + 2)
    const most = cut ? (this.outputs ? lines : 0) : 5000
    const shown = all.slice(0, most).map(x => x.length > 2000 && cut ? x.slice(0, 2000) + '…' : x).join('\n')
    const box = el('div', { class: 'more ' + cls })
    if (shown || !cut) box.append(el('pre', { tabindex: 0 }, (nodes || (x => [x]))(shown)))
    if (all.length > most || (cut && all.length > 0)) {
      const left = all.length - most
      box.append(el('button', { class: 'unfold', type: 'button', 'aria-expanded': String(!cut), onclick: () => this.toggle(key, true) }, left > 0 ? `Show ${count(left, 'more ' + unit)}` : 'Show'))
    } else if (all.length > lines + 2) {
      box.append(el('button', { class: 'unfold', type: 'button', 'aria-expanded': 'true', onclick: () => this.toggle(key, false) }, 'Show less'))
    }
    if (text.length > mostText) box.append(el('button', { class: 'unfold', type: 'button', onclick: () => copy(text) }, `${short(text.length - mostText)} characters more; copy all of it`))
    return box
  }

  toggle(key, open) {
    this.opened.set(key, open)
    this.redraw(parseInt(key, 10))
  }

  // folded returns a part that has to be opened.
  folded(key, name, make, open = false) {
    const box = el('details', { class: 'folded' }, el('summary', null, name))
    const filled = () => { if (box.open && box.children.length === 1) box.append(...[].concat(make())) }
    if (this.opened.get(key) ?? open) { box.open = true; filled() }
    box.addEventListener('toggle', () => { this.opened.set(key, box.open); filled() })
    return box
  }

  // entry returns the body of an entry, as a list of elements.
  entry(row, kind, value) {
    if (!value) return [el('p', { class: 'mute' }, 'Empty.')]
    if (value.broken) return [el('p', { class: 'note warn' }, 'This entry is nested too deep to show: ', value.broken), this.more(row + ':raw', value.raw.slice(0, 20000), { lines: 3 })]
    const m = value.message && typeof value.message === 'object' ? value.message : value
    switch (kind) {
      case 'user': return this.blocks(row, m)
      case 'assistant': return this.answer(row, m)
      case 'toolResult': return [this.result(row, m)]
      case 'bashExecution': return [this.shell(row, m)]
      case 'compaction': case 'compactionSummary': case 'branch_summary': case 'branchSummary':
        return [typeof m.tokensBefore === 'number' && m.tokensBefore > 0 && el('p', { class: 'mute' }, `${short(m.tokensBefore)} tokens became a summary.`), this.folded(row + ':sum', 'Summary', () => markdown(m.summary ?? textOf(m)))].filter(Boolean)
      case 'context_edit': return this.edit(row, value)
      case 'context_transform': return this.transform(row, value)
      case 'ephemeral': return (Array.isArray(value.messages) ? value.messages : []).flatMap(x => this.blocks(row, x || {}))
      case 'system': return this.system(row, m)
      case 'custom': case 'custom_message': case 'hookMessage': case 'contextTransform': case 'message of unknown role':
        return m.content !== undefined ? this.blocks(row, m) : [this.folded(row + ':json', 'Data', () => code(json(value), 'json'))]
      case 'model_change': case 'thinking_level_change': case 'label': case 'session_info': return []
    }
    return [this.folded(row + ':json', 'Data', () => code(json(value), 'json'))]
  }

  blocks(row, m) {
    const content = m.content
    if (typeof content === 'string') return this.text(row, content)
    if (!Array.isArray(content)) return content === undefined ? [] : [code(json(content), 'json')]
    return content.flatMap((block, k) => {
      switch (block?.type) {
        case 'text': return this.text(`${row}:${k}`, worded(block.text ?? ''))
        case 'image': return [image(block)]
        case 'thinking': return [this.thinking(`${row}:${k}`, block)]
        case 'toolCall': return [this.callCard(`${row}:${k}`, block)]
      }
      return [this.folded(`${row}:${k}:json`, line(block?.type ?? 'block', 40), () => code(json(block), 'json'))]
    })
  }

  // text returns Markdown; the instructions of a skill before it are folded.
  text(key, text) {
    if (text.length > mostText) return [this.more(key + ':all', text, { lines: 40, cls: 'card' })]
    if (text.length > longest && !this.opened.get(key + ':long')) {
      const start = text.lastIndexOf('\n', longest * 0.75) + 1 || longest * 0.75
      return [...this.text(key, text.slice(0, start)), el('button', { class: 'unfold', type: 'button', 'aria-expanded': 'false', onclick: () => this.toggle(key + ':long', true) }, `Show the rest, ${short(text.length - start)} characters`)]
    }
    const skill = /^<skill ([^>]*)>([\s\S]*?)<\/skill>\s*/.exec(text)
    if (!skill) return [markdown(text)]
    const name = /name="([^"]*)"/.exec(skill[1])
    return [this.folded(key + ':skill', 'Skill ' + line(name?.[1] ?? '', 60), () => markdown(skill[2])), markdown(text.slice(skill[0].length))]
  }

  thinking(key, block) {
    const text = worded(block.thinking ?? '')
    return this.folded(key + ':think', text ? 'Thinking' : 'Thinking, not in the file', () => markdown(text), this.thoughts)
  }

  // answer returns an answer of the model. Calls are shown with their results, further down;
  // here are those without a result.
  answer(row, m) {
    const open = this.answered(row)
    const parts = this.blocks(row, { content: Array.isArray(m.content) ? m.content.filter(b => b?.type !== 'toolCall' || open.has(b.id)) : m.content })
    if (m.stopReason === 'error' || m.stopReason === 'aborted') {
      parts.push(el('p', { class: 'note warn' }, icon('warn'), ` ${m.stopReason === 'error' ? 'The answer failed' : 'Aborted'}${m.errorMessage ? ': ' + line(m.errorMessage, 400) : ''}`))
    }
    return parts
  }

  callCard(key, call, status = 'no result') {
    return el('div', { class: 'card' }, this.callHead(call, status), this.args(key, call))
  }

  callHead(call, status, failed) {
    const what = isLong(subject(call)) ? '' : line(this.near(subject(call)), 160)
    const extra = smallArgs(call)
    return el('div', { class: 'card-head' }, el('span', { class: 'tool' }, line(call?.name ?? 'tool', 40)), what && el('code', { class: 'subject', dir: 'auto' }, what), extra && el('span', { class: 'extra' }, extra), status && el('span', { class: failed ? 'status failed' : 'status' }, status))
  }

  // args returns the arguments of a call, except the one in its head.
  args(key, call) {
    const args = call?.arguments
    if (!args || typeof args !== 'object') return args === undefined ? null : this.more(key + ':args', typeof args === 'string' ? args : json(args), { lines: 6 })
    const edits = replacements(call, this.model.head)
    if (edits) return this.diff(key, edits.flatMap(([was, is], k) => [...k ? [['…', '']] : [], ...near(difference(was, is))]))
    if (typeof args.content === 'string' && args.path !== undefined) {
      return this.more(key + ':args', args.content, { lines: 14, nodes: x => coloured(x, languageOf(args.path)) })
    }
    const about = subject(call)
    const rest = smallArgs(call) === null ? Object.fromEntries(Object.entries(args).filter(([, v]) => v !== about)) : {}
    const parts = []
    if (isLong(about)) parts.push(this.more(key + ':about', about, { lines: 8, nodes: x => coloured(x, args.command === about ? 'bash' : '') }))
    if (Object.keys(rest).length) parts.push(this.more(key + ':args', json(rest), { lines: 6, cls: 'args', nodes: x => coloured(x, 'json') }))
    return parts
  }

  diff(key, lines) {
    const open = this.opened.get(key + ':diff') ?? false
    const most = open ? 5000 : this.outputs ? 24 : 0
    const box = el('div', { class: 'more diff' })
    if (most) box.append(el('pre', { tabindex: 0 }, drawn(lines.slice(0, most))))
    if (lines.length > most) box.append(el('button', { class: 'unfold', type: 'button', 'aria-expanded': 'false', onclick: () => this.toggle(key + ':diff', true) }, `Show ${count(lines.length - most, 'more line')}`))
    return box
  }

  // result returns a call with its result.
  result(row, m) {
    const call = this.call(row, m.toolCallId) || { name: m.toolName, arguments: {} }
    const text = textOf(m), failed = m.isError === true
    const exit = /Command exited with code (\d+)\s*$/.exec(text)
    const diff = typeof m.details?.diff === 'string' ? parseDiff(m.details.diff) : null
    const edits = !diff && replacements(call, this.model.head)
    const status = failed ? (exit ? 'exit ' + exit[1] : 'failed') : diff ? tally(diff) : edits ? tally(edits.flatMap(([a, b]) => difference(a, b))) : ''
    const box = el('div', { class: failed ? 'card bad' : 'card' }, this.callHead(call, status, failed))
    if (diff && !failed) box.append(this.diff(row + '', diff))
    else for (const part of [this.args(row + '', call)].flat()) if (part) box.append(part)
    const images = (Array.isArray(m.content) ? m.content : []).filter(b => b?.type === 'image')
    if (text && !(diff && !failed) && !(edits && !failed)) {
      const read = call.name === 'read' || call.name === 'Read'
      box.append(this.more(row + ':out', text, { lines: read ? 8 : 12, cls: 'output', nodes: read && !failed ? x => coloured(x, languageOf(call.arguments?.path)) : undefined }))
    } else if (!text && !images.length) box.append(el('p', { class: 'mute none' }, 'No output'))
    for (const block of images) box.append(image(block))
    for (const part of this.nested(m)) box.append(part)
    return box
  }

  // nested returns the calls that the tool made itself.
  nested(m) {
    const calls = Array.isArray(m.nestedCalls?.calls) ? m.nestedCalls.calls : []
    const parts = calls.map(call => this.callHead(call, ({ error: 'failed', unfinished: 'no result' })[call?.status] ?? '', call?.status === 'error'))
    if (calls.length) parts.unshift(el('p', { class: 'mute' }, 'The tool called:'))
    if (m.nestedCalls?.complete === false) parts.push(el('p', { class: 'mute' }, 'Some of its calls are missing in the file, or incomplete.'))
    return parts
  }

  shell(row, m) {
    const code = typeof m.exitCode === 'number' ? m.exitCode : 0
    const call = { name: m.excludeFromContext ? 'user, not sent' : 'user', about: 'command', arguments: { command: worded(m.command ?? '') } }
    return el('div', { class: code ? 'card bad' : 'card' }, this.callHead(call, m.cancelled ? 'cancelled' : code ? 'exit ' + code : '', code !== 0),
      m.output ? this.more(row + ':out', worded(m.output), { lines: 12, cls: 'output' }) : el('p', { class: 'mute none' }, 'No output'))
  }

  edit(row, value) {
    const target = this.model.index.edits?.find(e => e[0] === row)?.[1]
    const go = target === undefined ? el('code', null, line(value.targetId ?? '', 60)) : el('button', { class: 'ref', type: 'button', onclick: () => this.goto(target) }, this.model.id(target))
    if (value.replacement === null) return [el('p', null, go, ' is left out of the context from here on.')]
    if (!value.replacement || typeof value.replacement !== 'object') return [el('p', null, go, ' is given no replacement.')]
    return [el('p', null, 'From here on, the context has another text for ', go, ':'), this.folded(row + ':now', 'New text', () => this.blocks(row, value.replacement))]
  }

  transform(row, value) {
    const title = value.display?.title || value.transformerName
    const parts = title ? [el('p', null, el('strong', null, line(title, 120)))] : []
    if (value.display?.summary) parts.push(el('p', null, line(value.display.summary, 600)))
    parts.push(el('ul', { class: 'ops' }, ops(value).map(op => el('li', null, el('code', null, line(op?.op ?? '', 60)),
      op?.partName ? ' ' + line(op.partName, 60) : '', typeof op?.messages === 'number' ? ` ${count(op.messages, 'message')}` : '',
      op?.invalidateCacheReason ? el('span', { class: 'mute' }, ' — ' + line(op.invalidateCacheReason, 300)) : ''))))
    if (typeof value.display?.markdown === 'string') parts.push(this.folded(row + ':md', 'Markdown', () => markdown(value.display.markdown)))
    if (value.display?.rendererId || value.display?.rendererProps !== undefined) {
      parts.push(el('p', { class: 'mute' }, 'Drawn by ', el('code', null, line(value.display.rendererId ?? '', 60))))
      if (value.display.rendererProps !== undefined) parts.push(this.folded(row + ':props', 'Data', () => [code(json(value.display.rendererProps), 'json')]))
    }
    const cut = ops(value).find(op => typeof op?.summary === 'string')
    if (cut) parts.push(this.folded(row + ':sum', 'Summary', () => markdown(cut.summary)))
    return parts
  }

  system(row, m) {
    const parts = []
    if (textOf(m)) parts.push(this.folded(row + ':content', 'Content', () => markdown(textOf(m))))
    for (const name in m.sections && typeof m.sections === 'object' ? m.sections : {}) {
      if (typeof m.sections[name] === 'string') parts.push(this.folded(`${row}:s:${name}`, line(name, 80), () => markdown(m.sections[name])))
    }
    for (const t of Array.isArray(m.toolsAdded) ? m.toolsAdded : []) parts.push(this.folded(`${row}:t:${line(t?.name)}`, 'Tool ' + line(t?.name ?? '', 60), () => code(json(t), 'json')))
    return parts
  }
}

// isLong reports whether the subject of a call is shown by itself, and not in its head.
const isLong = text => typeof text === 'string' && (text.trim().includes('\n') || text.length > 160)

// smallArgs returns the arguments of a call besides its subject, on a line; null if they do
// not fit.
function smallArgs(call) {
  const args = call?.arguments, about = subject(call)
  if (!args || typeof args !== 'object' || Array.isArray(args)) return null
  const rest = Object.entries(args).filter(([, v]) => v !== about)
  if (rest.length > 4 || rest.some(([, v]) => v !== null && typeof v === 'object' || String(v).length > 40 || /\n/.test(v))) return null
  return line(rest.map(([name, v]) => `${name} ${v}`).join('  '), 120)
}

// replacements returns the old and new texts of an edit, by the names of the arguments; null for other calls.
function replacements(call, { olds, news }) {
  const args = call?.arguments
  if (!args || typeof args !== 'object') return null
  const among = (x, names) => x[names.find(name => name in x)]
  const pair = x => x && typeof x === 'object' ? [among(x, olds), among(x, news)] : []
  const all = (Array.isArray(args.edits) ? args.edits : [args]).map(pair)
  return all.length && all.every(([a, b]) => typeof a === 'string' && typeof b === 'string') ? all : null
}
