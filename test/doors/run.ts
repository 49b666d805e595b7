/**
 * Replays the corpus of all doors and prints the equal answers by family and door.
 *
 *   npm run doors -- [--mode NAME]... [--all] [--door NAME]... [--family NAME]... [--id ID]... [--failures] [--flag NAME=VALUE]... [--no-load]
 *
 * The default mode is replayed unless --mode names others; --all replays every case in every mode. BACKEND_URL names a real VictoriaLogs,
 * which is loaded once; without it the embedded backend is started.
 */
import { parseArgs } from 'node:util';
import { readCases, type Case, type GoldenCase } from '../conformance/cases.js';
import { readExceptions } from '../conformance/exceptions.js';
import type { Outcome } from '../conformance/replay.js';
import { printTally } from '../conformance/tally.js';
import { openStore } from '../conformance/target.js';
import { doorsCorpus, replayIn } from './corpus.js';
import { defaultMode, otherModes, type Mode } from './modes.js';

const { values: options } = parseArgs({
  options: {
    mode: { type: 'string', multiple: true, default: [] },
    all: { type: 'boolean', default: false },
    door: { type: 'string', multiple: true, default: [] },
    family: { type: 'string', multiple: true, default: [] },
    id: { type: 'string', multiple: true, default: [] },
    failures: { type: 'boolean', default: false },
    /** A flag of the proxy, as `name=value`. */
    flag: { type: 'string', multiple: true, default: [] },
    'no-load': { type: 'boolean', default: false },
  },
});

const exceptions = readExceptions('test/doors/exceptions.jsonl');
const cases = readCases('doors').filter(isWanted);
const store = await openStore(process.env['BACKEND_URL'], !options['no-load'], doorsCorpus);
try {
  for (const mode of wantedModes()) report(mode, await replayIn(withFlags(mode), store, cases));
} finally {
  await store.close();
}

function wantedModes(): readonly Mode[] {
  const modes = [defaultMode, ...otherModes];
  if (options.all) return modes;
  if (options.mode.length === 0) return [defaultMode];
  return options.mode.map((name) => {
    const mode = modes.find((one) => one.name === name);
    if (mode === undefined) throw new Error(`no mode ${name}: ${modes.map((one) => one.name).join(', ')}`);
    return mode;
  });
}

function withFlags(mode: Mode): Mode {
  const more = options.flag.map((text): readonly [string, string] => {
    const at = text.indexOf('=');
    return [text.slice(0, at), text.slice(at + 1)];
  });
  return { ...mode, flags: [...mode.flags, ...more] };
}

function isWanted({ request }: GoldenCase): boolean {
  const isOneOf = (wanted: readonly string[], value: string): boolean =>
    wanted.length === 0 || wanted.includes(value);
  return (
    isOneOf(options.id, request.id) &&
    isOneOf(options.family, request.family) &&
    isOneOf(options.door, doorOf(request))
  );
}

function doorOf({ id }: Case): string {
  return id.slice(0, id.indexOf('-'));
}

function report(mode: Mode, outcomes: readonly Outcome[]): void {
  console.log(`\n== ${mode.name}`);
  const different = outcomes.filter(({ difference }) => difference !== undefined);
  if (options.failures)
    for (const { request, difference } of different)
      console.log(`FAIL ${request.id} ${JSON.stringify(request.params)}\n  ${difference ?? ''}`);
  printTally(outcomes, ({ request }) => request.family);
  console.log('');
  printTally(outcomes, ({ request }) => doorOf(request));
  console.log('');
  printTally(outcomes, () => 'all');
  const excepted = different.filter(({ request }) => exceptions.has(request.id)).length;
  if (excepted > 0)
    console.log(`${excepted} of the others are in test/doors/exceptions.jsonl, with the reason`);
  if (different.length > excepted) process.exitCode = 1;
}
