// Reads the Parquet files of a folder by DuckDB's library and by hyparquet, and prints their values as
// text; of the file many.parquet, sums. Arguments: the folder with the packages, the folder.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [packages, folder] = process.argv.slice(2)
const require = createRequire(pathToFileURL(join(packages, 'package.json')))
const { DuckDBInstance } = await import(pathToFileURL(require.resolve('@duckdb/node-api')))
const { parquetReadObjects } = await import(pathToFileURL(join(packages, 'node_modules/hyparquet/src/node.js')))
const { compressors } = await import(pathToFileURL(join(packages, 'node_modules/hyparquet-compressors/src/index.js')))
const db = await (await DuckDBInstance.create(':memory:')).connect()

const bits = x => {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, x)
  return view.getBigUint64(0).toString(16).padStart(16, '0')
}
const text = v => v === null || v === undefined ? null : v instanceof Date ? String(v.getTime()) :
  typeof v === 'number' ? bits(v) : String(v)
const out = { duckdb: {}, hyparquet: {} }
const sum = (name, of) => `'${name} ' || count("${name}") || ' ' || sum(${of})::HUGEINT`
for (const file of readdirSync(folder)) {
  const name = file.replace('.parquet', ''), path = join(folder, file)
  if (name === 'many') {
        const sql = ['key', 'text'].map(c => sum(c, `strlen(${c})`)).concat(
      sum('n', 'n % 1000'), sum('x', '(x * 4)::BIGINT'), sum('is', '"is"::INT'),
      sum('at', 'epoch_ms("at") % 1000'), sum('word', 'strlen(word)'), sum('maybe_text', 'strlen(maybe_text)'),
      sum('maybe_n', 'maybe_n % 1000'), sum('maybe_x', '(maybe_x * 4)::BIGINT'), sum('maybe_is', 'maybe_is::INT'))
    out.duckdb[name] = (await db.runAndReadAll(`SELECT ${sql.join(', ')} FROM '${path}'`)).getRows()
    continue
  }
  const rows = (await db.runAndReadAll(`SELECT * REPLACE (epoch_ms("at") AS "at") FROM '${path}'`)).getRows()
  out.duckdb[name] = rows.map(row => row.map(text))
  const data = readFileSync(path)
  const buffer = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)
  out.hyparquet[name] = (await parquetReadObjects({ file: buffer, compressors })).map(row => Object.values(row).map(text))
}
console.log(JSON.stringify(out))
