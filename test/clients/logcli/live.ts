import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLogcli, withoutSurroundings } from './logcli.js';
import { pushToLoki } from './loki.js';

interface Targets {
  readonly program: string;
  readonly loki: string;
  readonly proxy: string;
  readonly backend: string;
}

interface TailCase {
  readonly command: 'tail';
  readonly name: string;
  readonly args: readonly string[];
  /** Number of lines that must be shown; the run waits for them. */
  readonly expected: number;
  /** The reason for an expected difference; the run fails when the outputs no longer differ. */
  readonly differs?: string;
}

interface TailResult {
  readonly command: string;
  readonly name: string;
  readonly difference: string | undefined;
  readonly reason: string | undefined;
}

const earlier = 6;
const later = 8;
const waitMs = 20_000;
/** Loki allows ten tails per tenant. */
const tailsAtOnce = 6;
const stagesUnchecked =
  'Loki takes a tail whose stages cannot work and shows nothing; here it is told what is wrong';
const liveLabels =
  'Loki leaves structured metadata and level out of live lines of queries without a parser, not out of the history';
const categorized = '--header=X-Loki-Response-Encoding-Flags: categorize-labels';
const tails: readonly TailCase[] = [
  { ...tail('history, then lines as they come', earlier + later, '{app="tailed"}'), differs: liveLabels },
  { ...tail('a limit on the history', 2 + later, '--limit=2', '{app="tailed"}'), differs: liveLabels },
  tail('a filter', (earlier + later) / 2, '{app="tailed"} |= "even"'),
  tail('json, raw', earlier + later, '--output=raw', '{app="tailed"} | json | line_format "{{.n}} {{.say}}"'),
  { ...tail('jsonl', earlier + later, '--output=jsonl', '{app="tailed"}'), differs: liveLabels },
  tail('no labels', earlier + later, '--no-labels', '{app="tailed"}'),
  {
    ...tail('delayed by two seconds', earlier + later, '--delay-for=2', '{app="tailed"}'),
    differs: liveLabels,
  },
  tail('labels parsed', earlier + later, '{app="tailed"} | json'),
  tail('raw without labels', earlier + later, '--output=raw', '--no-labels', '{app="tailed"} | logfmt'),
  tail('a filter on a parsed label', (earlier + later) / 2, '{app="tailed"} | json | say="odd"'),
  tail(
    'labels formatted, jsonl',
    earlier + later,
    '--output=jsonl',
    '{app="tailed"} | json | label_format word=say | keep word',
  ),
  tail('nothing found', 0, '{app="tailed"} |= "nothing like it"'),
  tail(
    'colours, a label left out',
    earlier + later,
    '--colored-output',
    '--exclude-label=part',
    '{app="tailed"} | json',
  ),
  tail(
    'padded labels, since',
    earlier + later,
    '-f',
    '--since=1m',
    '--labels-length=100',
    '{app="tailed"} | json',
  ),
  tail('groups asked for apart', earlier + later, '--output=jsonl', categorized, '{app="tailed"} | json'),
  {
    ...tail('from a time to come', 0, '--from=2030-01-01T00:00:00Z', '{app="tailed"} | json'),
    differs: 'Loki ends a tail that begins in the future; here it begins now',
  },
];
const refusals: readonly (Omit<TailCase, 'expected'> & { readonly orgId?: string })[] = [
  tail('refused: a bad query', 0, '{app='),
  tail('refused: delayed for too long', 0, '--delay-for=6', '{app="tailed"}'),
  tail('refused: a metric query', 0, 'rate({app="tailed"}[1m])'),
  tail('refused: a selector that matches everything', 0, '{app=~".*"}'),
  { ...tail('refused: a bad expression', 0, '{app="tailed"} |~ "(a"'), differs: stagesUnchecked },
  tail('refused: a bad expression of a parser', 0, '{app="tailed"} | regexp "(a"'),
  { ...tail('refused: a tenant and a bar', 0, '{app="tailed"}'), orgId: 't1|' },
  { ...tail('refused: several tenants', 0, '{app="tailed"}'), orgId: 't1|t2' },
];

function tail(name: string, expected: number, ...args: readonly string[]): TailCase {
  return { command: 'tail', name, args, expected };
}

/** Tails both servers while the same lines are pushed to both. Each run uses a new tenant, because a real backend keeps earlier lines. */
export async function compareTails(
  targets: Targets,
  isWanted: (each: TailCase) => boolean,
): Promise<readonly TailResult[]> {
  const results: TailResult[] = [];
  const tenant = 2_000_000 + (Math.floor(Date.now() / 1000) % 1_000_000);
  const wanted = tails.filter(isWanted);
  for (let at = 0; at < wanted.length; at += tailsAtOnce)
    results.push(...(await compareAtOnce(targets, String(tenant + at), wanted.slice(at, at + tailsAtOnce))));
  for (const each of refusals.filter((refusal) => isWanted({ ...refusal, expected: 0 }))) {
    const reference = new Watched(targets, targets.loki, each.orgId ?? String(tenant), each);
    const proxy = new Watched(targets, targets.proxy, each.orgId ?? String(tenant), each);
    await Promise.all([reference.ended(1), proxy.ended(1)]);
    results.push(resultOf(each, reference, proxy));
  }
  return results;
}

async function compareAtOnce(
  targets: Targets,
  tenant: string,
  cases: readonly TailCase[],
): Promise<readonly TailResult[]> {
  await pushLines(targets, tenant, 0, earlier);
  await sleep(2_000);
  const runs = cases.map((each) => ({
    each,
    reference: new Watched(targets, targets.loki, tenant, each),
    proxy: new Watched(targets, targets.proxy, tenant, each),
  }));
  await sleep(1_500);
  for (let at = earlier; at < earlier + later; at += 1) {
    await pushLines(targets, tenant, at, at + 1);
    await sleep(150);
  }
  const results: TailResult[] = [];
  for (const { each, reference, proxy } of runs) {
    await Promise.all([reference.ended(each.expected), proxy.ended(each.expected)]);
    results.push(resultOf(each, reference, proxy));
  }
  return results;
}

function resultOf(
  { command, name, differs }: Pick<TailCase, 'command' | 'name' | 'differs'>,
  reference: Watched,
  proxy: Watched,
): TailResult {
  return { command, name, difference: firstDifference(reference.text, proxy.text), reason: differs };
}

function firstDifference(reference: string, proxy: string): string | undefined {
  const [wanted, found] = [reference.split('\n'), proxy.split('\n')];
  const longest = wanted.length > found.length ? wanted : found;
  const at = longest.findIndex((_, index) => wanted[index] !== found[index]);
  if (at < 0) return undefined;
  const isReordered = [...wanted].sort().join('\n') === [...found].sort().join('\n');
  return `${isReordered ? 'another order, ' : ''}line ${at + 1}: ${found[at] ?? 'none'} | Loki ${wanted[at] ?? 'none'}`;
}

/** A logcli process that tails; it counts as ended after the expected lines, on exit, or after a timeout. */
class Watched {
  readonly #child: ChildProcess;
  readonly #address: string;
  readonly #closed: Promise<void>;
  #stdout = '';
  #stderr = '';
  #hasEnded = false;

  constructor(
    { program }: Targets,
    address: string,
    orgId: string,
    { args }: { readonly args: readonly string[] },
  ) {
    this.#address = address;
    this.#child = startLogcli(program, address, [`--org-id=${orgId}`, 'query', '--tail', ...args]);
    this.#child.stdout?.on('data', (data: Buffer) => (this.#stdout += data.toString('utf8')));
    this.#child.stderr?.on('data', (data: Buffer) => (this.#stderr += data.toString('utf8')));
    this.#closed = new Promise((resolve) => this.#child.once('close', () => resolve()));
    void this.#closed.then(() => (this.#hasEnded = true));
  }

  async ended(lines: number): Promise<void> {
    const until = Date.now() + waitMs;
    while (!this.#hasEnded && Date.now() < until && this.#stdout.split('\n').length <= lines) await sleep(50);
    // Time for a line more than expected to arrive.
    if (!this.#hasEnded) await sleep(1_000);
    this.#child.kill('SIGKILL');
    await this.#closed;
  }

  /** Its output in order, without the parts that depend on the time. */
  get text(): string {
    const clean = (text: string): string =>
      withoutSurroundings(text, this.#address)
        .replaceAll(/(start|end)=\d+/g, '$1=now')
        .replaceAll(/Tailing: .*/g, 'Tailing')
        .split('\n')
        .filter((line) => line.trim() !== '')
        .join('\n');
    return `${clean(this.#stdout)}\n${clean(this.#stderr)}`.trim();
  }
}

/** Pushes the lines from `from` up to but excluding `to` to both servers: two streams, with a level and structured metadata. */
async function pushLines(
  { loki, backend }: Targets,
  tenant: string,
  from: number,
  to: number,
): Promise<void> {
  const streams = [];
  for (let at = from; at < to; at += 1) {
    const time = String(BigInt(Date.now()) * 1_000_000n + BigInt(at));
    const line = JSON.stringify({ n: at, say: at % 2 === 0 ? 'even' : 'odd', level: 'warn' });
    streams.push({
      stream: { app: 'tailed', part: String(at % 2) },
      values: [at % 3 === 0 ? [time, line, { trace_id: `t${at}` }] : [time, line]],
    });
  }
  const body = JSON.stringify({ streams });
  await pushToLoki(loki, tenant, body);
  const answer = await fetch(`${backend}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accountid: tenant, projectid: '0' },
    body,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the backend refused a push: ${answer.status} ${text.slice(0, 300)}`);
}
