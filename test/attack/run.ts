/**
 * `npm run attack`: simulates attacks by an external client, another tenant, a damaged disk, a lying peer and a page in a browser. Exits
 * with 1 if something was found.
 *
 *   npm run attack -- [--only=tenants|lanes|caches|peers|browser] [--seed=1] [--runs=N]
 *
 * BACKEND_URL names a VictoriaLogs to use instead of the embedded backend; the recorded logs are loaded into it.
 */
import { readArguments } from '../watch/arguments.js';
import { angles } from './angles.js';

const options = readArguments(process.argv.slice(2), ['only', 'seed', 'runs']);
const only = options.text('only', '');
const seed = options.number('seed', 1);
const backendUrl = process.env['BACKEND_URL'];
if (only !== '' && !angles.some(({ name }) => name === only))
  throw new Error(`there is no angle ${only}; there are ${angles.map(({ name }) => name).join(', ')}`);
let found = 0;
for (const { name, usualRuns, attack } of angles.filter((each) => only === '' || each.name === only)) {
  const startedAt = performance.now();
  const runs = options.number('runs', usualRuns);
  const { tried, findings } = await attack({ seed, runs, backendUrl });
  const counts = [...tried].map(([what, count]) => `${count} ${what}`).join(', ');
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  console.log(`${name}: seed ${seed}, ${counts}; ${findings.length} findings, ${seconds} s`);
  for (const finding of findings.slice(0, 10)) console.log(`  ${finding}`);
  found += findings.length;
}
process.exitCode = found === 0 ? 0 : 1;
