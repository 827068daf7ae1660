// A long list of which only the visible items are in the page. Heights are estimated until
// they are measured; the items in view do not move.

const block = 256

export class Windowed {
  // scroller scrolls, and space is inside it. draw(i) returns item i; guess(i) its estimated
  // height in pixels. If all items have the same height, it is fixed.
  constructor(scroller, space, { draw, guess, fixed, over = 600 }) {
    Object.assign(this, { scroller, space, draw, guess, fixed, over })
    this.shown = new Map()
    this.length = 0
    this.before = document.createElement('div')
    this.after = document.createElement('div')
    space.append(this.before, this.after)
    this.sizes = new ResizeObserver(found => this.resized(found))
    scroller.addEventListener('scroll', () => {
      if (!scroller.clientHeight) return
      if (Math.abs(scroller.scrollTop - this.expected) > 2) this.held = null // the reader has scrolled
      this.last = scroller.scrollTop
      this.later()
    }, { passive: true })
    new ResizeObserver(() => this.later()).observe(scroller)
  }

  // set sets the length of the list, and draws all items again.
  set(length) {
    for (const node of this.shown.values()) this.drop(node)
    this.shown.clear()
    this.length = length
    this.held = null
    if (!this.fixed) {
      this.heights = new Float64Array(length)
      this.known = new Uint8Array(length)
      this.sums = new Float64Array(Math.ceil(length / block) || 1)
      for (let i = 0; i < length; i++) {
        this.heights[i] = this.guess(i)
        this.sums[i / block | 0] += this.heights[i]
      }
    }
    this.update()
  }

  drop(node) {
    this.sizes.unobserve(node)
    node.remove()
  }

  // top returns where item i begins.
  top(i) {
    if (this.fixed) return i * this.fixed
    let sum = 0
    const b = i / block | 0
    for (let k = 0; k < b; k++) sum += this.sums[k]
    for (let k = b * block; k < i; k++) sum += this.heights[k]
    return sum
  }

  // at returns the item at a height.
  at(y) {
    if (this.length === 0) return 0
    if (this.fixed) return Math.max(0, Math.min(this.length - 1, y / this.fixed | 0))
    let b = 0
    for (; b < this.sums.length - 1 && y >= this.sums[b]; b++) y -= this.sums[b]
    let i = b * block
    const end = Math.min(this.length - 1, i + block - 1)
    for (; i < end && y >= this.heights[i]; i++) y -= this.heights[i]
    return i
  }

  size(i, height) {
    const more = height - this.heights[i]
    this.heights[i] = height
    this.sums[i / block | 0] += more
    this.known[i] = 1
    return more
  }

  later() {
    if (this.waiting) return
    this.waiting = true
    requestAnimationFrame(() => { this.waiting = false; this.update() })
  }

  // update puts the visible items into the page.
  update() {
    const { scroller, space } = this
    const offset = this.space.offsetTop
    const y = Math.max(0, scroller.scrollTop - offset)
    const { anchor, into } = this.anchor(y)
    const from = this.length ? this.at(Math.max(0, y - this.over)) : 0
    const to = this.length ? this.at(y + scroller.clientHeight + this.over) + 1 : 0
    if (this.all) this.place(0, this.length)
    else this.place(from, to)
    if (this.fixed) return
    let moved = false
    for (const [i, node] of this.shown) {
      const height = node.offsetHeight
      if (height !== this.heights[i]) moved = this.size(i, height) !== 0 || moved
      this.known[i] = 1
    }
    if (moved) {
      this.pad(this.all ? 0 : from, this.all ? this.length : to)
      const now = this.top(anchor) + into + offset
      if (Math.abs(now - scroller.scrollTop) > 0.5 && (scroller.scrollTop > 0 || this.held)) this.scrollTo(now)
      this.later()
    }
  }

  // anchor returns the item that stays in place while others change: the one that was asked
  // for, else the first that begins in view, else the one that fills the view.
  anchor(y) {
    if (this.held && this.held.i < this.length) return { anchor: this.held.i, into: this.held.into }
    const first = this.at(y), top = this.top(first)
    const next = first + 1 < this.length ? top + (this.fixed || this.heights[first]) : Infinity
    if (top < y && next < y + this.scroller.clientHeight / 2) return { anchor: first + 1, into: y - next }
    return { anchor: first, into: y - top }
  }

  scrollTo(y) {
    this.scroller.scrollTop = Math.max(0, y)
    this.expected = this.scroller.scrollTop
  }

  // place puts just the items of a range into the page, in order.
  place(from, to) {
    for (const [i, node] of this.shown) {
      if (i < from || i >= to) { this.drop(node); this.shown.delete(i) }
    }
    let next = this.before.nextSibling
    for (let i = from; i < to; i++) {
      let node = this.shown.get(i)
      if (!node) {
        node = this.draw(i)
        this.shown.set(i, node)
        this.space.insertBefore(node, next)
        if (!this.fixed) this.sizes.observe(node)
      } else {
        if (node !== next) this.space.insertBefore(node, next)
        next = node.nextSibling
      }
    }
    this.pad(from, to)
  }

  pad(from, to) {
    const above = this.top(from), all = this.top(this.length)
    this.before.style.height = above + 'px'
    this.after.style.height = Math.max(0, all - this.top(to)) + 'px'
  }

  resized(found) {
    if (found.some(f => f.target.isConnected)) this.later()
  }

  // redraw draws item i again, if it is in the page.
  redraw(i) {
    const old = this.shown.get(i)
    if (!old) return
    const node = this.draw(i)
    this.sizes.unobserve(old)
    old.replaceWith(node)
    this.shown.set(i, node)
    if (!this.fixed) this.sizes.observe(node)
    this.later()
  }

  // show scrolls to item i: to where = 'start', 'center', or 'nearest'.
  show(i, where = 'start') {
    const offset = this.space.offsetTop
    this.held = null
    for (let k = 0; k < 3; k++) { // measuring may move it
      const top = this.top(i) + offset, height = this.fixed || this.heights[i], view = this.scroller.clientHeight
      let y = top - 12
      if (where === 'center') y = top - Math.max(0, (view - height) / 2)
      if (where === 'nearest') {
        const now = this.scroller.scrollTop
        if (top >= now && top + height <= now + view) return
        y = top < now ? top - 12 : top + height - view + 12
      }
      this.scrollTo(y)
      if (!this.fixed) this.held = { i, into: this.scroller.scrollTop - top }
      this.update()
      if (this.fixed) return
    }
  }
}
