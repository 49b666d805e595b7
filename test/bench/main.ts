/**
 * `npm run bench [-- NAME...] [--json=FILE]`: runs the benchmarks of this folder whose names start with NAME (all by default), and writes
 * their ratios to FILE. Each is a module that exports `run`. Speed is measured here, never asserted in tests.
 * `npm run bench -- compare OLD NEW` prints two such files side by side.
 */
import { readdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { compareReports, writeReport } from './report.js';

interface Benchmark {
  run(): Promise<void>;
}

function isBenchmark(module: unknown): module is Benchmark {
  return typeof module === 'object' && module !== null && 'run' in module && typeof module.run === 'function';
}

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' } },
});
const [command, oldFile, newFile] = wanted;
if (command === 'compare') {
  if (oldFile === undefined || newFile === undefined) throw new Error('compare takes two files');
  await compareReports(oldFile, newFile);
  process.exit();
}
/** Not benchmarks: these modules run on import. */
const parts = new Set(['main.js', 'bare-server.js', 'flood.js']);
const files = (await readdir(new URL('.', import.meta.url))).filter(
  (file) => /^[a-z-]+\.js$/.test(file) && !parts.has(file),
);
const chosen = files
  .filter((file) => wanted.length === 0 || wanted.some((name) => file.startsWith(name)))
  .sort();
if (chosen.length === 0) {
  console.error(
    `no benchmark is called ${wanted.join(' or ')}; there are ${files.map((file) => file.replace('.js', '')).join(', ')}`,
  );
  process.exitCode = 2;
}
for (const file of chosen) {
  const module: unknown = await import(new URL(file, import.meta.url).href);
  if (!isBenchmark(module)) continue;
  console.log(`\n== ${file.replace('.js', '')}`);
  await module.run();
}
if (options.json !== undefined) await writeReport(options.json);
