// The selection, navigation, and the head of the page.
import { begin, byId, copy, count, dollars, el, fill, lacking, line, moment, percent, say, spent, theme, whole } from './dom.js'
import { Chart } from './chart.js'
import { Context } from './context.js'
import { gist } from './entry.js'
import { Model } from './model.js'
import { Side } from './side.js'
import { Store, unpack } from './store.js'
import { Talk } from './talk.js'

class App {
  async start() {
    this.model = await read()
    this.store = new Store(this.model.head.chunks)
    this.pos = new Int32Array(this.model.entries)
    this.within = new Uint8Array(this.model.entries)
    this.row = this.step = this.at = this.leaf = -1
    this.path = []
    this.steps = []
    this.forms = new Map()
    this.talk = new Talk(this)
    this.side = new Side(this)
    this.context = new Context(this)
    this.chart = new Chart(this)
    this.about()
    this.listen()
    const { head } = this.model
    await this.store.load(this.store.chunkOf(0)) // what is shown first
    this.follow(head.leaf)
    if (!this.address_()) this.first()
    document.documentElement.dataset.ready = 'true'
    performance.mark('ready')
  }

  // grown shows the session as it is now: what is selected stays, and who reads its end sees what is new.
  async grown() {
    const { talk, row, leaf, model } = this, box = talk.list.scroller, last = leaf === model.head.leaf
    const end = last && box.scrollHeight - box.scrollTop - box.clientHeight < 60, held = talk.list.anchor(Math.max(0, box.scrollTop - talk.list.space.offsetTop))
    const top = talk.rows[held.anchor], answer = model.steps.entry[this.step] ?? -1
    Object.assign(model, await read())
    Object.assign(this.store, new Store(model.head.chunks))
    this.pos = new Int32Array(model.entries)
    this.within = new Uint8Array(model.entries)
    this.path = []
    talk.calls.clear()
    document.querySelector('a.up')?.remove()
    byId('pages').replaceChildren()
    this.about()
    await this.store.load(this.store.chunkOf(Math.max(0, model.entries - 1)))
    this.follow(last ? model.head.leaf : leaf)
    this.step = -1
    const now = end ? talk.all.at(-1) ?? -1 : row
    this.choose(now < 0 ? this.steps.at(-1) ?? -1 : !end && answer >= 0 ? model.stepOf[answer] : this.contextOf(now), now)
    if (end) { talk.show(now, 'nearest'); return }
    if (talk.place.has(top)) Object.assign(talk.list, { held: { i: talk.place.get(top), into: held.into } })
    talk.list.update()
  }

  // first selects the first request of the path, where a page without a place in its address begins:
  // at its first entry.
  first() {
    const begin = this.talk.all[0] ?? -1
    this.choose(this.steps.length ? this.steps[0] : -1, begin)
    if (begin < 0) return
    this.talk.show(begin)
    this.side.show(begin)
  }

  // near returns a path or a command as it would be written in the session's folder.
  near(text) {
    const cwd = this.model.head.project
    if (!cwd || cwd === '/' || typeof text !== 'string') return text
    const folder = cwd.replace(/\/+$/, '')
    return text.replace(`cd ${folder} && `, '').split(folder + '/').join('')
  }

  onPath(row) { return this.pos[row] > 0 || this.path[0] === row }

  // follow shows the path to another leaf.
  follow(leaf) {
    const { model } = this
    for (const row of this.path) this.pos[row] = 0
    this.leaf = leaf
    this.path = model.path(leaf)
    this.path.forEach((row, i) => { this.pos[row] = i })
    this.steps = this.path.filter(row => model.stepOf[row] >= 0).map(row => model.stepOf[row])
    const next = model.steps.entry.length - 1
    if (next >= 0 && model.steps.entry[next] < 0) { // the context that no request has had yet
      const at = model.steps.leaf[next], last = this.steps.length ? model.steps.entry[this.steps[this.steps.length - 1]] : -1
      if (at < 0 || this.onPath(at) && this.pos[at] >= (last < 0 ? 0 : this.pos[last])) this.steps.push(next)
    }
    this.place = new Map(this.steps.map((step, i) => [step, i]))
    this.talk.follow(this.path)
    this.side.follow(leaf)
    this.chart.draw()
  }

  // select selects a request: what the model saw there, and the answer.
  select(step, { quiet = false, quick = false } = {}) {
    if (step === undefined || step === this.step && quick) return
    const row = this.model.steps.entry[step]
    this.choose(step, row >= 0 ? row : this.model.steps.leaf[step])
    this.talk.show(this.row, quick ? 'nearest' : 'start')
    this.side.show(this.row)
    if (!quiet && row >= 0) this.remember('entry-' + this.model.id(row))
  }

  // goto selects an entry, and what the model saw there, unless keep is set.
  goto(row, { keep = false, quiet = false } = {}) {
    const { model } = this
    if (row < 0 || row === undefined) return
    document.body.dataset.pane = 'talk'
    this.panes()
    if (!this.onPath(row)) this.follow(model.tip[row])
    let step = this.step
    if (!keep || !this.place.has(step)) step = this.contextOf(row)
    this.choose(step, row)
    this.talk.show(row)
    this.side.show(row)
    if (!quiet) this.remember('entry-' + model.id(row))
  }

  // contextOf returns the request that shows best what the model saw at an entry: the one that
  // it answers, else the next one of the path, else the last.
  contextOf(row) {
    const { model } = this
    for (let i = this.pos[row]; i < this.path.length; i++) if (model.stepOf[this.path[i]] >= 0) return model.stepOf[this.path[i]]
    return this.steps.length ? this.steps[this.steps.length - 1] : -1
  }

  choose(step, row) {
    const { model } = this
    this.row = row
    if (step !== this.step) {
      this.step = step
      this.within.fill(0)
      this.forms = new Map() // of entries that the request has in another form, the message
      if (step >= 0) for (const m of model.list(step)) {
        const source = model.source(m)
        this.within[source] = 1
        if (m !== source && model.madeBy(m) !== source) this.forms.set(source, m)
      }
    }
    this.at = step >= 0 ? this.place.get(step) ?? -1 : -1
    this.context.show(step)
    this.talk.mark()
    this.chart.mark()
    this.side.active()
  }

  // by steps over requests.
  by(n) {
    const to = this.at + n
    if (to >= 0 && to < this.steps.length) this.select(this.steps[to])
  }

  // gistNow returns a row on a line. If it is not unpacked yet, later is called with it.
  gistNow(row, later) {
    const { model, store } = this, body = model.body(row), kind = model.kind(row)
    const value = store.peek(body)
    if (value !== undefined) return gist(body === row ? kind : this.messageKind(value, kind), value)
    if (store.here(body)) store.row(body).then(v => later(gist(body === row ? kind : this.messageKind(v, kind), v)))
    return ''
  }

  // messageKind returns the kind of a message without an entry, by its role.
  messageKind(value, kind) {
    const role = value?.role ?? value?.message?.role
    return ['user', 'assistant', 'toolResult'].includes(role) ? role : kind
  }

  address(row) { return `${location.href.split('#')[0]}#entry-${encodeURIComponent(this.model.id(row))}` }

  remember(name) {
    try { history.replaceState(null, '', '#' + encodeURIComponent(name)) } catch { /* where addresses cannot be changed */ }
  }

  // address_ goes to the place in the page's address, and reports whether there is one.
  address_() {
    const { model } = this
    let name = ''
    try { name = decodeURIComponent(location.hash.slice(1)) } catch { /* no address of this page */ }
    const request = /^request-(\d+)$/.exec(name)
    if (request && this.steps[+request[1]] !== undefined) { this.select(this.steps[+request[1]], { quiet: true }); return true }
    if (!name.startsWith('entry-')) return false
    const row = model.ids.lastIndexOf(name.slice(6))
    if (row < 0) return false
    this.goto(row, { quiet: true })
    return true
  }

  pageOf(row) {
    const chunk = this.store.chunkOf(row), pages = this.model.head.pages || []
    return (pages.find(p => chunk < p.chunks[1]) || pages[pages.length - 1] || { file: '' }).file
  }

  // about shows title and figures of the session in the head of the page.
  about() {
    const { model } = this, { head } = model
    const name = head.title || head.name || head.file.replace(/^.*[\\/]/, '')
    byId('title').textContent = line(name, 120)
    document.title = line(name, 80) + ' · ctxtool'
    const cost = head.cost, c = head.cache
    const first = head.from, last = head.to
    const kinds = head.kinds.map(() => 0)
    for (const k of model.index.kind) kinds[k]++
    const requests = model.steps.entry.filter(row => row >= 0).length
    const facts = [[count(kinds[model.kindNumber.user], 'prompt')], [count(requests, 'request')], cost ? [spent(cost, head.recorded) + lacking(head), 'Cost of all requests' + (head.subagents ? `, ${dollars(head.subagents)} of it of sub-agents` : '')] : null,
      c.prompt && c.read ? [percent(c.achieved) + ' cached', 'Share of the prompts of all branches that came from the cache'] : null, first ? [moment(first).slice(0, 16), 'Began, UTC'] : null,
      last - first > 60000 ? [span(last - first), 'Lasted'] : null]
    const found = (head.findings || []).filter(f => !f.note).length + (head.stopped?.length || 0)
    fill(byId('facts'), facts.filter(Boolean).map(([text, title]) => el('span', { title }, text)),
      head.redacted && el('span', { class: 'tag' }, 'redacted'), head.subagentOf && el('span', { class: 'tag', title: 'Its cost is part of that of this session' }, 'sub-agent of ' + line(head.subagentOf, 12)), head.over && el('span', { class: 'tag warn', title: 'The context of the last request exceeds the window of its model' }, 'over the window'),
      found ? el('button', { class: 'tag warn', type: 'button', id: 'findings', onclick: () => this.findings() }, count(found, 'finding')) : null)
    if (head.index) byId('title').before(el('a', { class: 'up', href: head.index }, 'Sessions'))
    if (head.pages) byId('pages').append(...head.pages.map((p, i) => el('a', { href: p.file, 'aria-current': i === head.page ? 'page' : null }, String(i + 1))))
  }

  findings() {
    const { head } = this.model
    this.dialog('Findings', [el('p', { class: 'mute' }, `Read: ${whole(head.coverage.lines)} lines, ${whole(head.coverage.entries)} entries, ${whole(head.coverage.skipped)} lines skipped. Rules: ${head.rules}.`),
      el('ul', { class: 'findings' }, [...head.stopped || [], ...head.findings || []].map(f => el('li', null, f.row >= 0 ? el('button', { class: 'ref', type: 'button', onclick: () => { this.closeDialog(); this.goto(f.row) } }, f.line ? 'line ' + f.line : this.model.id(f.row)) : f.line ? `line ${f.line}` : null, ' ', line(f.text, 600))))])
  }

  dialog(title, children) {
    const box = byId('dialog')
    byId('dialog-title').textContent = title
    fill(byId('dialog-body'), children)
    if (!box.open) box.showModal()
    byId('dialog-body').scrollTop = 0
  }

  closeDialog() { byId('dialog').close() }

  // highlight marks words in all that is shown, without changing its elements.
  highlight(words) {
    this.words = words
    if (!globalThis.CSS?.highlights) return
    CSS.highlights.delete('found')
    clearInterval(this.painting)
    if (!words.length) return
    const paint = () => {
      const ranges = []
      for (const box of [byId('talk-space'), byId('tree-space')]) {
        const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT)
        for (let node = walk.nextNode(); node && ranges.length < 2000; node = walk.nextNode()) {
          const low = node.data.toLowerCase()
          for (const word of words) for (let i = low.indexOf(word); i >= 0 && ranges.length < 2000; i = low.indexOf(word, i + word.length)) {
            const range = new Range()
            range.setStart(node, i)
            range.setEnd(node, Math.min(node.length, i + word.length))
            ranges.push(range)
          }
        }
      }
      CSS.highlights.set('found', new Highlight(...ranges))
    }
    paint()
    this.painting = setInterval(paint, 400)
  }

  // ask shows the address of a link in the content, and lets the reader open it.
  ask(url) {
    const open = /^(https?:|mailto:)/i.test(url)
    this.dialog('A link in the session', [el('p', { class: 'address', dir: 'ltr' }, line(url, 2000)),
      el('p', { class: 'choices' }, el('button', { class: 'plain', type: 'button', onclick: () => { copy(url); this.closeDialog() } }, 'Copy'),
        open ? el('button', { class: 'plain', type: 'button', onclick: () => { this.closeDialog(); window.open(url, '_blank', 'noopener,noreferrer') } }, 'Open in a new window') : el('span', { class: 'mute' }, 'An address of this kind is not opened.'))])
  }

  panes() {
    for (const b of document.querySelectorAll('#tabbar button')) b.setAttribute('aria-pressed', String(b.dataset.pane === document.body.dataset.pane))
    if (document.body.dataset.pane === this.pane) return
    this.pane = document.body.dataset.pane
    if (this.pane === 'talk' && this.talk.list.last !== undefined) this.talk.list.scroller.scrollTop = this.talk.list.last // hidden boxes forget it
    this.talk.list.later()
    this.side.list.update()
    this.side.show(this.row)
  }

  listen() {
    addEventListener('hashchange', () => this.address_())
    document.addEventListener('click', e => { const link = e.target.closest('.link'); if (link) this.ask(link.dataset.url) })
    document.addEventListener('keydown', e => this.key(e))
    byId('help').addEventListener('click', () => this.help())
    byId('print').addEventListener('click', () => this.print())
    byId('thoughts').addEventListener('click', e => this.toggle(e.currentTarget, 'thoughts'))
    byId('outputs').addEventListener('click', e => this.toggle(e.currentTarget, 'outputs'))
    byId('only').addEventListener('click', e => {
      const on = e.currentTarget.getAttribute('aria-pressed') !== 'true'
      e.currentTarget.setAttribute('aria-pressed', String(on))
      this.talk.onlyContext = on
      this.talk.follow(this.path)
      this.talk.show(this.row)
    })
    byId('dialog-close').addEventListener('click', () => this.closeDialog())
    byId('dialog').addEventListener('click', e => { if (e.target === byId('dialog')) this.closeDialog() })
    for (const b of document.querySelectorAll('#tabbar button')) b.addEventListener('click', () => { document.body.dataset.pane = b.dataset.pane; this.panes() })
    addEventListener('beforeprint', () => this.spread())
    addEventListener('afterprint', () => { this.talk.list.all = false; this.talk.list.update() })
    for (const grip of document.querySelectorAll('.grip')) this.grip(grip)
  }

  toggle(button, what) {
    const on = button.getAttribute('aria-pressed') !== 'true'
    button.setAttribute('aria-pressed', String(on))
    this.talk.set(what, on)
  }

  // grip makes a pane wider or narrower.
  grip(grip) {
    const name = grip.dataset.pane === 'tree' ? '--tree' : '--context', sign = grip.dataset.pane === 'tree' ? 1 : -1
    const width = () => byId(grip.dataset.pane).offsetWidth
    const set = w => {
      const wide = Math.round(Math.max(180, Math.min(innerWidth * 0.45, 900, w)))
      document.documentElement.style.setProperty(name, wide + 'px')
      grip.setAttribute('aria-valuenow', wide)
    }
    grip.addEventListener('pointerdown', e => {
      const from = e.clientX, was = width()
      grip.setPointerCapture(e.pointerId)
      grip.onpointermove = m => set(was + sign * (m.clientX - from))
      grip.onpointerup = () => { grip.onpointermove = null }
    })
    grip.addEventListener('keydown', e => {
      const by = { ArrowLeft: -16, ArrowRight: 16 }[e.key]
      if (!by) return
      e.preventDefault()
      e.stopPropagation()
      set(width() + sign * by)
    })
  }

  // spread puts the whole path into the page, as far as it is unpacked, for printing.
  spread() {
    this.talk.list.all = this.talk.rows.length <= mostPrinted
    this.talk.list.update()
  }

  async print() {
    const rows = this.talk.rows.slice(0, mostPrinted)
    say(rows.length < this.talk.rows.length ? `Printing only what is shown: more than ${whole(mostPrinted)} entries` : 'Unpacking …')
    if (rows.length === this.talk.rows.length) for (const row of rows) if (row >= 0) await this.store.row(row)
    window.print()
  }

  help() {
    const keys = [['← →', 'previous request, next request'], ['/', 'search'], ['n p', 'next match, previous match'], ['↑ ↓', 'in the tree: entry above, below'], ['1 2 3', 'tree, transcript, context'],
      ['o', 'show or hide tool output'], ['t', 'show or hide thinking'], ['c', 'only what is in the context'], ['d', 'dark or light'], ['Esc', 'clear the search, close'], ['?', 'this']]
    const marks = [['C', 'a compaction'], ['T', 'a transform'], ['E', 'an edit'], ['M', 'another model'], ['!', 'the cache broke, and tokens were rebilled']]
    const list = all => el('dl', { class: 'keys' }, all.map(([key, text]) => el('div', null, el('dt', null, key.split(' ').map(k => el('kbd', null, k))), el('dd', null, text))))
    this.dialog('Keys', [list(keys), el('h3', null, 'Marks above the chart'), list(marks),
      el('p', { class: 'mute' }, `Tokens are counted as pi counts them; prices of ${this.model.head.prices}. Made by ctxtool.`)])
  }

  key(e) {
    if (e.ctrlKey && e.key === 'p' || e.metaKey && e.key === 'p') { e.preventDefault(); this.print(); return }
    if (e.ctrlKey || e.metaKey || e.altKey) return
    const typing = e.target.matches('input, textarea, select')
    if (e.key === 'Escape' && !byId('dialog').open) {
      const search = byId('search')
      if (search.value) { search.value = ''; this.side.search('') }
      search.blur()
      return
    }
    if (e.key === 'Enter' && e.target === byId('search')) { this.side.step(e.shiftKey ? -1 : 1); return }
    if (typing || byId('dialog').open) return
    const press = id => byId(id).click()
    const does = {
      ArrowLeft: () => this.by(-1), ArrowRight: () => this.by(1), '/': () => { document.body.dataset.pane = 'tree'; this.panes(); byId('search').focus(); byId('search').select() },
      '?': () => this.help(), n: () => this.side.step(1), p: () => this.side.step(-1), o: () => press('outputs'), t: () => press('thoughts'), c: () => press('only'), d: () => theme(true),
      1: () => this.focus('tree', 'tree-scroll'), 2: () => this.focus('talk', 'talk-scroll'), 3: () => this.focus('context', 'request-name'),
    }[e.key]
    if (!does) return
    e.preventDefault()
    does()
  }

  focus(pane, id) {
    document.body.dataset.pane = pane
    this.panes()
    byId(id).focus()
  }
}

const mostPrinted = 3000

const read = async () => new Model(...await Promise.all(['head', 'index', 'steps'].map(id => unpack(id).then(JSON.parse))))

function span(ms) {
  const minutes = ms / 60000 | 0, hours = minutes / 60 | 0
  if (hours >= 48) return `over ${hours / 24 | 0} days`
  return hours ? `${hours} h ${minutes % 60} min` : `${minutes} min`
}

begin(new App())
