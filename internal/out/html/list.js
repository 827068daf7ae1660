// The index of a folder, as a file.
import { begin } from './dom.js'
import { Index } from './index.js'

begin(new Index())
