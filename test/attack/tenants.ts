import { Agent } from 'node:http';
import { parseLogsql } from '../../plugins/embedded-backend/logsql/index.js';
import { openProxy, openStore } from '../conformance/target.js';
import { send } from '../fuzz/client.js';
import { makeRequest, type FuzzRequest } from '../fuzz/requests.js';
import { faultOf } from '../fuzz/laws.js';
import { Random } from '../watch/random.js';
import { breakout, hostileRequest, markOf, stepsIn } from './hostile-texts.js';
import { outsideQuotes } from './logsql-text.js';
import { RecordingBackend, type BackendCall } from './recording-backend.js';
import { Tally, type AttackReport, type AttackSettings } from './tally.js';

/** The first of the accounts that belong to one step each and show the logs of an account of the corpus. */
const firstAccount = 1_000_000;
const accountsOfStep = 4;
const corpusAccounts = [11, 12, 13];
/** A tenant in the tenant map, with a project. */
const named = { id: 'named', tenant: '77:7' };
const tenantMap = JSON.stringify({ [named.id]: { account_id: '77', project_id: '7' } });
const label = 'tenant';
const batchSize = 8;
/** Calls that the proxy makes on its own. */
const withoutTenant: ReadonlySet<string> = new Set([
  '/delete/active_tasks',
  '/health',
  '/metrics',
  '/select/buildinfo',
]);

/** A request, and the scope of its calls: tenants of the backend, or values of the tenant label. */
interface Step {
  readonly made: FuzzRequest;
  readonly allowed: ReadonlySet<string>;
}

/**
 * Uses tenants, headers, selectors and texts that imitate others. Each step uses accounts that no other step uses and marks its texts, so
 * every backend call can be attributed to its step, however late it arrives.
 */
export async function attackTenants({ seed, runs, backendUrl }: AttackSettings): Promise<AttackReport> {
  const tally = new Tally();
  const store = await openStore(backendUrl, true);
  try {
    for (const isByLabel of [false, true]) {
      const judge = new Judge(tally, isByLabel);
      const backend = await RecordingBackend.open(store.url, shownAccount, (call) => judge.take(call));
      const flags = new Map([
        ['labels-cache-warm', 'false'],
        ...(isByLabel ? [['tenant-label', label] as const] : []),
        ['tenant-map', isByLabel ? '{}' : tenantMap],
      ]);
      const proxy = await openProxy({ url: backend.url, close: () => Promise.resolve() }, [], flags);
      try {
        const count = isByLabel ? Math.ceil(runs / 3) : runs - Math.ceil(runs / 3);
        await ask(proxy.urls.main, seed, count, judge, tally);
      } finally {
        await proxy.close();
        backend.close();
      }
      judge.end();
    }
  } finally {
    await store.close();
  }
  return tally;
}

async function ask(url: string, seed: number, count: number, judge: Judge, tally: Tally): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: batchSize });
  try {
    for (let from = 0; from < count; from += batchSize) {
      const steps = Array.from({ length: Math.min(batchSize, count - from) }, (_, at) => from + at);
      await Promise.all(
        steps.map(async (step) => {
          const { made } = judge.begin(step, Random.of(seed, step));
          tally.add(judge.isByLabel ? 'requests by label' : 'requests');
          const answer = await send(url, made, agent);
          tally.add(`answered ${Math.floor(answer.status / 100)}xx`);
          const fault = made.method === 'HEAD' ? undefined : faultOf(answer);
          if (fault !== undefined) tally.find(`step ${step}: ${fault} for ${shown(made)}`);
        }),
      );
    }
  } finally {
    agent.destroy();
  }
}

function shownAccount(account: number): number {
  if (account === 77) return 11;
  return account < firstAccount ? account : (corpusAccounts[account % corpusAccounts.length] ?? 0);
}

/** Checks every backend call against the requests that were sent. */
class Judge {
  readonly isByLabel: boolean;
  readonly #tally: Tally;
  readonly #steps = new Map<number, Step>();
  /** Everything ever requested, for calls without a mark. */
  readonly #asked = new Set<string>();
  #calls = 0;

  constructor(tally: Tally, isByLabel: boolean) {
    this.#tally = tally;
    this.isByLabel = isByLabel;
  }

  begin(step: number, random: Random): Step {
    const made = random.chance(0.7) ? hostileRequest(random, step) : makeRequest(random);
    const [orgId, allowed] = this.isByLabel ? labelledTenant(random, step) : numberedTenant(random, step);
    const headers = Object.fromEntries(
      Object.entries(made.headers).filter(([name]) => name.toLowerCase() !== 'x-scope-orgid'),
    );
    const begun: Step = {
      made: { ...made, headers: orgId === undefined ? headers : { ...headers, 'X-Scope-OrgID': orgId } },
      allowed: new Set(allowed),
    };
    this.#steps.set(step, begun);
    for (const each of allowed) this.#asked.add(each);
    return begun;
  }

  take(call: BackendCall): void {
    this.#calls += 1;
    if (withoutTenant.has(call.path)) return;
    if (!call.path.startsWith('/select/logsql/')) this.#find(call, 'a path that no read needs');
    this.#scoped(call);
    this.#written(call);
    if (call.status >= 400 && call.status < 500) this.#refused(call);
  }

  end(): void {
    this.#tally.add(this.isByLabel ? 'calls by label' : 'calls', this.#calls);
    if (this.#calls === 0) this.#tally.find('the backend was never asked');
  }

  #scoped(call: BackendCall): void {
    const asked = this.isByLabel ? labelOf(call) : call.tenant;
    if (asked === undefined || asked === '') {
      this.#find(call, 'no tenant');
      return;
    }
    if (!this.#asked.has(asked)) this.#find(call, `the tenant ${asked}, for whom nobody asked`);
    for (const step of stepsIn(textOf(call))) {
      const begun = this.#steps.get(step);
      if (begun === undefined) this.#find(call, `texts of the step ${step}, which has not begun`);
      else if (!begun.allowed.has(asked))
        this.#find(call, `texts of the step ${step} with the tenant ${asked}: ${shown(begun.made)}`);
    }
  }

  /** Client text may appear in queries only between quotes, and as the value of an argument that is a name. */
  #written(call: BackendCall): void {
    for (const [name, value] of Object.entries(call.headers))
      if (stepsIn(`${name} ${String(value)}`).size > 0) this.#find(call, `a header of a client: ${name}`);
    if (stepsIn(call.path).size > 0) this.#find(call, 'text of a client in the path');
    for (const [name, value] of call.args) {
      if (stepsIn(name).size > 0) this.#find(call, `text of a client as the argument ${name}`);
      if (name === 'query' || name === 'extra_filters') this.#quoted(call, value);
      else if (
        !['field', 'field_name', 'filter', 'extra_stream_filters'].includes(name) &&
        stepsIn(value).size > 0
      )
        this.#find(call, `text of a client in the argument ${name}`);
    }
  }

  #quoted(call: BackendCall, query: string): void {
    this.#tally.add('LogsQL read');
    const outside = outsideQuotes(query);
    if (outside === undefined) {
      this.#find(call, 'quotes that never close');
      return;
    }
    for (const [word] of outside.matchAll(/[^\s(){},:=|!<>[\]]+/g)) {
      const isName = /^[A-Za-z_][A-Za-z0-9_.]*\*?$/.test(word) && word.includes('zq') && /zq\d+v/.test(word);
      if ((word.includes(breakout) || /zq\d+v/.test(word)) && !isName)
        this.#find(call, `text of a client outside of quotes: ${word}`);
    }
    if (/\b(?:delete|join)\b/.test(outside)) this.#find(call, 'a pipe that no read needs');
    const [, selector = ''] = /^\s*(\{[^}]*\}|\S+)/.exec(outside) ?? [];
    for (const [, united = ''] of outside.matchAll(/\bunion\b\s*\(([^|]*)/g))
      if (!united.startsWith(selector)) this.#find(call, 'a united query of another selection');
  }

  /** The backend must be able to parse what the printer writes; it may reject a regexp. */
  #refused(call: BackendCall): void {
    this.#tally.add(`calls that the backend refused`);
    try {
      parseLogsql(call.args.get('query') ?? '');
    } catch (error) {
      this.#find(call, `a query that does not parse: ${String(error)}`);
    }
  }

  #find(call: BackendCall, what: string): void {
    this.#tally.find(
      `${what}\n  ${call.path} ${call.tenant} ${call.args.toString().slice(0, 700)} ${call.error}`,
    );
  }
}

function textOf({ path, args, headers }: BackendCall): string {
  return `${path} ${[...args].flat().join(' ')} ${Object.values(headers).join(' ')}`;
}

/** The tenant to which the backend restricts a call under label tenancy. */
function labelOf({ args }: BackendCall): string | undefined {
  const filters = args.getAll('extra_stream_filters');
  if (filters.length !== 1) return undefined;
  const filter: unknown = JSON.parse(filters[0] ?? '');
  const [[name, value] = [], ...others] = Object.entries(filter as Record<string, unknown>);
  return name === label && others.length === 0 && typeof value === 'string' ? value : undefined;
}

type Named = readonly [orgId: string | undefined, allowed: readonly string[]];

/** A header, and the backend tenants that it may reach. */
function numberedTenant(random: Random, step: number): Named {
  const first = firstAccount + step * accountsOfStep;
  const [a, b, c] = [first, first + 1, first + 2].map(String);
  const [inA, inB, inC] = [first, first + 1, first + 2].map((account) => `${account}:0`);
  if (a === undefined || b === undefined || c === undefined) throw new Error('no accounts');
  if (inA === undefined || inB === undefined || inC === undefined) throw new Error('no accounts');
  if (random.chance(0.5)) return [a, [inA]];
  return random.pick<Named>([
    [`${a}|${b}`, [inA, inB]],
    [`${c}|${a}|${b}`, [inA, inB, inC]],
    [`${a}|${a}`, [inA]],
    [`${a}|`, [inA]],
    [`|${a}|`, [inA]],
    [` ${a} `, [inA]],
    [`00${a}`, [inA]],
    [`${a}|nobody`, [inA]],
    [`${a}|${named.id}`, [inA, named.tenant]],
    [named.id, [named.tenant]],
    [named.id.toUpperCase(), []],
    [`${a}|*`, []],
    [`${a}:0`, []],
    [`${a}:7`, []],
    [`-${a}`, []],
    [`+${a}`, []],
    [`${a}.0`, []],
    [`${a}, ${b}`, []],
    [`0x${first.toString(16)}`, []],
    [`${a}e0`, []],
    [String(2 ** 32 + first), []],
    ['__proto__', []],
    ['constructor', []],
    ['nobody', []],
    ['77', ['77:0']],
    ['*', ['0:0']],
    ['0', ['0:0']],
    ['fake', ['0:0']],
    ['default', ['0:0']],
    ['', ['0:0']],
    [undefined, ['0:0']],
  ]);
}

/** The same for label tenancy. The default account would see all tenants, so it is not used here. */
function labelledTenant(random: Random, step: number): Named {
  const id = `${markOf(step)}t`;
  if (random.chance(0.4)) return [id, [id]];
  const odd = random.pick([
    `${id}"`,
    `${id}"} or {${label}!="`,
    `${id}",${label}="x`,
    `${id}\\`,
    `${id}*`,
    `${id}.*`,
    `${id}{}`,
    `${id}' or '`,
    `${id}%22`,
    `${id}, x`,
    `${id}:=*`,
  ]);
  return random.pick<Named>([
    [odd, [odd]],
    [odd, [odd]],
    [`${id}|${id}2`, [id, `${id}2`]],
    [`${id}|${odd}`, [id, odd]],
    [`${id}|*`, []],
  ]);
}

function shown({ method, path, params, headers, isForm }: FuzzRequest): string {
  return JSON.stringify({ method, path, params, headers, isForm }).slice(0, 500);
}
