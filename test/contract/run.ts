import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { groupOf, type Outcome, replay } from './contract.js';
import { loadData } from './recordings.js';

/**
 * `npm run contract`: replays the recordings against the embedded backend, or against a real server at BACKEND_URL
 * (empty, with -delete.enable and a retention that covers the data; BACKEND_LOADED=1 if it already has the rows).
 */
async function main(): Promise<number> {
  const external = process.env['BACKEND_URL'];
  const own = external === undefined ? await startDevBackend() : undefined;
  const url = external ?? own?.url ?? '';
  try {
    if (process.env['BACKEND_LOADED'] !== '1') await loadData(url);
    return report(await replay(url));
  } finally {
    await own?.close();
  }
}

function report(outcomes: readonly Outcome[]): number {
  const groups = new Map<string, { passed: number; all: number }>();
  for (const outcome of outcomes) {
    const group = groups.get(groupOf(outcome)) ?? { passed: 0, all: 0 };
    group.all++;
    if (outcome.difference === undefined) group.passed++;
    groups.set(groupOf(outcome), group);
  }
  for (const outcome of outcomes) {
    const { id, path, params, body } = outcome.recording;
    if (outcome.difference !== undefined) {
      process.stdout.write(`FAIL ${id} ${path} ${JSON.stringify(params)}\n  ${outcome.difference}\n`);
    } else if (outcome.otherText !== undefined && process.env['CONTRACT_TEXTS'] === '1') {
      process.stdout.write(`text ${id}\n  - ${body.trim()}\n  + ${outcome.otherText}\n`);
    }
  }
  for (const [name, { passed, all }] of groups)
    process.stdout.write(`${name.padEnd(10)} ${passed} of ${all}\n`);
  const passed = outcomes.filter(({ difference }) => difference === undefined).length;
  const texts = outcomes.filter(({ otherText }) => otherText !== undefined).length;
  process.stdout.write(
    `${passed} of ${outcomes.length} recordings agree; ${texts} error texts differ (advisory)\n`,
  );
  return passed === outcomes.length ? 0 : 1;
}

process.exitCode = await main();
