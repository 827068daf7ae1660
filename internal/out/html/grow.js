// A page that is served asks whether its session has grown, and shows what is new.
import { renew } from './store.js'

const every = 1000 // milliseconds

async function watch() {
  const app = globalThis.ctxtool, here = location.href.replace(/#.*/, ''), asked = new URL('../watch/' + here.replace(/.*\//, ''), here)
  for (let pause = every; ; await new Promise(done => setTimeout(done, pause))) {
    if (document.hidden || document.documentElement.dataset.ready !== 'true') continue
    try {
      const state = await (await fetch(asked)).text()
      if (state === app.model.head.state) continue
      const began = performance.now(), page = await fetch(here)
      if (!page.ok) continue
      renew(await page.text())
      await app.grown()
      pause = Math.max(every, 10 * (performance.now() - began)) // a large session is not read all the time
    } catch {
      return document.body.classList.add('ended') // the server has ended
    }
  }
}

watch()
