/**
 * Replays the corpus and prints passes by family.
 *
 *   npm run conformance -- [--set http|otel] [--family NAME]... [--id ID]... [--failures] [--without STAGE]... [--no-load]
 *
 * BACKEND_URL names a real VictoriaLogs; without it the embedded backend is started.
 */
import { parseArgs } from 'node:util';
import { readCases, type GoldenCase } from './cases.js';
import { readExceptions } from './exceptions.js';
import { openProxy, openStore } from './target.js';
import { replay, type Outcome } from './replay.js';

const { values: options } = parseArgs({
  options: {
    set: { type: 'string', default: 'http' },
    family: { type: 'string', multiple: true, default: [] },
    id: { type: 'string', multiple: true, default: [] },
    without: { type: 'string', multiple: true, default: [] },
    failures: { type: 'boolean', default: false },
    'no-load': { type: 'boolean', default: false },
  },
});

const cases = readCases(options.set === 'otel' ? 'otel' : 'http').filter(isWanted);
const store = await openStore(process.env['BACKEND_URL'], !options['no-load']);
try {
  const proxy = await openProxy(store, options.without);
  try {
    report(await replay(proxy.urls.main, cases));
  } finally {
    await proxy.close();
  }
} finally {
  await store.close();
}

function isWanted({ request }: GoldenCase): boolean {
  if (options.id.length > 0) return options.id.includes(request.id);
  return request.exact !== false && (options.family.length === 0 || options.family.includes(request.family));
}

function report(outcomes: readonly Outcome[]): void {
  const exceptions = readExceptions();
  const families = new Map<string, { passed: number; all: number }>();
  for (const { request, difference } of outcomes) {
    const count = families.get(request.family) ?? { passed: 0, all: 0 };
    families.set(request.family, count);
    count.all += 1;
    if (difference === undefined) count.passed += 1;
    else if (options.failures)
      console.log(`FAIL ${request.id} ${JSON.stringify(request.params)}\n  ${difference}`);
  }
  for (const [family, { passed, all }] of families) console.log(`${family.padEnd(24)} ${passed}/${all}`);
  const passed = outcomes.filter(({ difference }) => difference === undefined).length;
  console.log(`${'all'.padEnd(24)} ${passed}/${outcomes.length}`);
  const excepted = outcomes.filter(
    ({ request, difference }) => difference !== undefined && exceptions.has(request.id),
  );
  if (excepted.length > 0)
    console.log(
      `${excepted.length} of the others stand in test/conformance/exceptions.jsonl, with the reason`,
    );
}
