/**
 * Runs logcli against a Loki and against this proxy over the same entries, and compares its output.
 *
 *   LOKI_URL=http://... LOGCLI=/path/to/logcli [BACKEND_URL=http://...] npm run logcli -- [--case TEXT] [--no-load] [--quiet]
 *
 * See README.md for the setup of Loki.
 */
import { parseArgs } from 'node:util';
import type { RunningProxy } from '../../../core/program/start-proxy.js';
import { openProxy, openStore } from '../../conformance/target.js';
import { cases } from './cases-table.js';
import { differenceOf } from './compare.js';
import { compareTails } from './live.js';
import { loadLoki } from './loki.js';
import { runLogcli } from './logcli.js';
import type { LogcliCase } from './types.js';

const { values: options } = parseArgs({
  options: {
    case: { type: 'string', multiple: true, default: [] },
    'no-load': { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
  },
});

interface Result {
  readonly command: string;
  readonly name: string;
  readonly difference: string | undefined;
  /** The reason for an expected difference. */
  readonly reason: string | undefined;
}

const loki = needed('LOKI_URL').replace(/\/$/, '');
const program = needed('LOGCLI');
const backend = process.env['BACKEND_URL'];
if (!options['no-load']) await loadLoki(loki);
const store = await openStore(backend, !options['no-load']);
const results: Result[] = [];
try {
  const proxies = {
    plain: await openProxy(store),
    auth: await openProxy(store, [], [['auth.enabled', 'true']]),
  };
  try {
    for (const each of cases.filter(isWanted)) show(await compared(each, proxies));
    for (const each of await compareTails(
      { program, loki, proxy: mainOf(proxies.plain), backend: store.url },
      isWanted,
    ))
      show(each);
  } finally {
    await Promise.all([proxies.plain.close(), proxies.auth.close()]);
  }
} finally {
  await store.close();
}
summarise();

async function compared(
  each: LogcliCase,
  proxies: { readonly plain: RunningProxy; readonly auth: RunningProxy },
): Promise<Result> {
  const target = mainOf(each.proxy === 'auth' ? proxies.auth : proxies.plain);
  const [reference, proxy] = await Promise.all([
    runLogcli(program, loki, each),
    runLogcli(program, target, each),
  ]);
  const difference = differenceOf(reference, proxy, each.as ?? 'text');
  const isToDiffer = each.differsStored !== true || backend !== undefined;
  const reason = isToDiffer ? each.differs : undefined;
  return { command: each.command, name: each.name, difference, reason };
}

function mainOf(proxy: RunningProxy): string {
  return proxy.urls.main.replace(/\/$/, '');
}

function isWanted({ command, name }: { readonly command: string; readonly name: string }): boolean {
  return options.case.length === 0 || options.case.some((text) => `${command} ${name}`.includes(text));
}

function show(result: Result): void {
  results.push(result);
  const { command, name, difference, reason } = result;
  const verdict = isRight(result) ? (reason === undefined ? 'same' : 'differs, as told') : 'WRONG';
  if (verdict === 'same' && options.quiet) return;
  console.log(`${verdict.padEnd(17)}${command.padEnd(17)}${name}`);
  if (reason !== undefined) console.log(`    ${reason}`);
  if (difference !== undefined) console.log(`    ${difference}`);
  else if (reason !== undefined) console.log('    but the outputs are the same');
}

function isRight({ difference, reason }: Result): boolean {
  return (difference === undefined) === (reason === undefined);
}

function summarise(): void {
  console.log('');
  for (const command of new Set(results.map((each) => each.command))) {
    const ofCommand = results.filter((each) => each.command === command);
    const same = ofCommand.filter(({ difference }) => difference === undefined).length;
    const told = ofCommand.filter((each) => isRight(each) && each.reason !== undefined).length;
    const wrong = ofCommand.length - same - told;
    console.log(
      `${command.padEnd(17)}${ofCommand.length} cases: ${same} same, ${told} differ as told, ${wrong} wrong`,
    );
  }
  const wrong = results.filter((each) => !isRight(each)).length;
  console.log(`${'all'.padEnd(17)}${results.length} cases, ${wrong} wrong`);
  if (wrong > 0) process.exitCode = 1;
}

function needed(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '')
    throw new Error(`${name} is not set: see test/clients/logcli/README.md`);
  return value;
}
