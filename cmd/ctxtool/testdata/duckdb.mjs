// Answers SQL by DuckDB's library, and counts rows and sums by hyparquet, an independent reader.
// Arguments: the folder with the packages, a folder of tables. Input: a JSON list of SQL.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [packages, folder] = process.argv.slice(2)
const require = createRequire(pathToFileURL(join(packages, 'package.json')))
const load = name => import(pathToFileURL(require.resolve(name)))
const plain = v => v === null ? null : typeof v === 'bigint' ? Number(v) : typeof v === 'object' ? String(v) : v

const { DuckDBInstance } = await load('@duckdb/node-api')
const db = await (await DuckDBInstance.create(':memory:')).connect()
const answers = []
for (const sql of JSON.parse(readFileSync(0, 'utf8'))) {
  const r = await db.runAndReadAll(sql)
  answers.push({ columns: r.columnNames(), rows: r.getRows().map(row => row.map(plain)) })
}

const { parquetReadObjects } = await import(pathToFileURL(join(packages, 'node_modules/hyparquet/src/node.js')))
const { compressors } = await import(pathToFileURL(join(packages, 'node_modules/hyparquet-compressors/src/index.js')))
const second = {}
for (const table of readdirSync(folder)) {
  if (table.startsWith('_')) continue
  const sums = second[table] = { rows: 0 }
  for (const name of readdirSync(join(folder, table), { recursive: true })) {
    if (!name.endsWith('.parquet')) continue
    const data = readFileSync(join(folder, table, name))
    const file = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)
    for (const row of await parquetReadObjects({ file, compressors })) {
      sums.rows++
      for (const [key, v] of Object.entries(row)) {
        if (key !== 'call_key' && (typeof v === 'bigint' || typeof v === 'number')) sums[key] = (sums[key] ?? 0) + Number(v)
      }
    }
  }
}
console.log(JSON.stringify({ answers, second }))
