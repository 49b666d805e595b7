/** `npm run fuzz`: sends invalid and unusual requests to a running program, with a backend that occasionally damages its responses. */
import { readArguments } from '../watch/arguments.js';
import { Fuzzer } from './fuzz.js';
import { openPair } from './pair.js';
import { fuzzPipelines } from './pipelines.js';

const options = readArguments(process.argv.slice(2), [
  'requests',
  'seed',
  'from',
  'raw',
  'lies',
  'turn',
  'files',
]);
const seed = options.number('seed', 1);
const requests = options.number('requests', 100_000);
const settings = {
  seed,
  requests,
  from: options.number('from', 0),
  rawShare: options.number('raw', 0.03),
  lieShare: options.number('lies', 0.1),
  maxTurnMs: options.number('turn', 50),
};
console.log(`seed ${seed}`);
const startedAt = performance.now();
let offences = await fuzzPipelines(seed, options.number('files', Math.ceil(requests / 100)), console.log);
const pair = await openPair();
try {
  const report = await new Fuzzer(pair, settings, console.log).run();
  offences += report.offences.length;
  const statuses = [...report.statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`);
  console.log(
    `${report.sent} requests in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s; ${statuses.join(', ')}`,
  );
  console.log(
    `longest turn ${report.longestTurnMs.toFixed(0)} ms; ${report.heldMiB[0].toFixed(0)} MiB held at the start, ${report.heldMiB[1].toFixed(0)} at the end, without what is learned`,
  );
  for (const { ms, request } of report.slow)
    console.log(`slow: ${ms.toFixed(0)} ms: ${request.slice(0, 400)}`);
  console.log(`${offences} offences`);
} finally {
  await pair.close();
}
process.exitCode = offences === 0 ? 0 : 1;
