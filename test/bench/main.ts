/**
 * `npm run bench [-- NAME...]`: runs the benchmarks beside this file whose names start with NAME, all without one. Each is a module
 * that exports `run`; speed lives here, never in assertions of tests.
 */
import { readdir } from 'node:fs/promises';

interface Benchmark {
  run(): Promise<void>;
}

function isBenchmark(module: unknown): module is Benchmark {
  return typeof module === 'object' && module !== null && 'run' in module && typeof module.run === 'function';
}

const wanted = process.argv.slice(2);
const files = (await readdir(new URL('.', import.meta.url))).filter(
  (file) => /^[a-z-]+\.js$/.test(file) && file !== 'main.js',
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
