// The data of the page: packed as text, and unpacked by chunks when needed.

const marked = [0, 13, 60, 127]

// spelled returns the bytes of a packed text: seven bits a character.
export function spelled(text) {
  const bytes = new Uint8Array(Math.ceil(text.length * 7 / 8))
  let n = 0, have = 0, bits = 0
  for (let i = 0; i < text.length; i++) {
    let code = text.charCodeAt(i)
    if (code === 127) code = marked[text.charCodeAt(++i) - 48]
    have = (have << 7 | code) & 0x3fff
    bits += 7
    if (bits >= 8) {
      bits -= 8
      bytes[n++] = have >> bits
    }
  }
  return bytes.subarray(0, n)
}

const newer = new Map() // packed texts of the page as it is now, once it was asked for again

// packed returns a packed text, undefined if this page does not have it.
const packed = id => newer.size ? newer.get(id) : document.getElementById(id)?.textContent

// renew takes the packed texts from the text of a page, in place of those in this one.
export function renew(page) {
  newer.clear()
  for (const [, id, text] of page.matchAll(/<script type="text\/plain" id="(\w+)">([^<]*)<\/script>/g)) newer.set(id, text)
}

export async function unpack(id) {
  const bytes = spelled(packed(id))
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).text()
}

const kept = 48 // chunks that stay unpacked

export class Store {
  // first are the first rows of the chunks.
  constructor(first) {
    this.first = first
    this.chunks = new Map()
    this.loading = new Map()
    this.values = new Map() // rows as values, the latest
    this.weight = 0 // of those, characters
  }

  chunkOf(row) {
    let lo = 0, hi = this.first.length
    while (hi - lo > 1) {
      const mid = lo + hi >> 1
      if (this.first[mid] <= row) lo = mid
      else hi = mid
    }
    return lo
  }

  // here reports whether a row is in this page; a large session may have several pages.
  here(row) { return packed('c' + this.chunkOf(row)) !== undefined }

  // load returns the lines of a chunk, none for a chunk of another page.
  load(chunk) {
    if (packed('c' + chunk) === undefined) return Promise.resolve([]) // another page has it
    const have = this.chunks.get(chunk)
    if (have) {
      this.chunks.delete(chunk) // it is the latest again
      this.chunks.set(chunk, have)
      return Promise.resolve(have)
    }
    let loading = this.loading.get(chunk)
    if (!loading) {
      loading = unpack('c' + chunk).then(text => text.split('\n'))
      loading = loading.then(lines => {
        this.loading.delete(chunk)
        this.chunks.set(chunk, lines)
        for (const old of this.chunks.keys()) {
          if (this.chunks.size <= kept) break
          this.chunks.delete(old)
        }
        return lines
      })
      this.loading.set(chunk, loading)
    }
    return loading
  }

  // peek returns a row if it is unpacked, else undefined.
  peek(row) {
    if (this.values.has(row)) return this.values.get(row)
    const chunk = this.chunkOf(row), lines = this.chunks.get(chunk)
    return lines && this.keep(row, lines[row - this.first[chunk]])
  }

  async row(row) {
    if (this.values.has(row)) return this.values.get(row)
    const chunk = this.chunkOf(row)
    return this.keep(row, (await this.load(chunk))[row - this.first[chunk]])
  }

  // keep parses a row, and caches it for a while.
  keep(row, text) {
    const value = parsed(text)
    this.weight += text?.length || 0
    if (this.values.size >= 500 || this.weight > 48e6) {
      this.values.clear()
      this.weight = text?.length || 0
    }
    this.values.set(row, value)
    return value
  }

  async raw(row) {
    const chunk = this.chunkOf(row)
    return (await this.load(chunk))[row - this.first[chunk]]
  }
}

// parsed returns a row as a value, or why it cannot be parsed, such as being nested too deep.
function parsed(text) {
  if (!text) return null
  try {
    return JSON.parse(text)
  } catch (e) {
    return { broken: e.message, raw: text }
  }
}
