/**
 * Counts the backend calls of a request: of the first of its kind on a new proxy, and of one that follows others of its kind.
 * `node dist/test/house/backend-calls.js` prints them.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { packageRoot } from '../../core/kernel/options/index.js';
import { withProxyFile } from '../../core/testing/index.js';
import { Relay, type SeenCall } from '../audit/relay.js';
import { fillHouse, houseFlags, orgId, newFilters, requestKinds, type RequestKind } from './request-kinds.js';

/** The limits for metric queries from issue 44. */
export const aims = { first: 6, steady: 3 };

/** A proxy refreshes some data every ten seconds or every minute, during whichever request comes next, so the lowest count is used. */
const proxies = 2;
const before = 2;
const steadyAsked = 4;

export interface CallsOfKind {
  readonly kind: RequestKind;
  readonly first: readonly SeenCall[];
  readonly steady: readonly SeenCall[];
}

/** The lowest number of calls for each kind of request. Health checks and backend metrics, which can occur at any time, are left out. */
export async function backendCalls(): Promise<readonly CallsOfKind[]> {
  const backend = await startDevBackend();
  const relay = await Relay.open(backend.url);
  try {
    await fillHouse(backend.url);
    const all: CallsOfKind[] = [];
    for (const kind of [...requestKinds, newFilters]) {
      const firsts: (readonly SeenCall[])[] = [];
      const steadies: (readonly SeenCall[])[] = [];
      for (let proxy = 0; proxy < proxies; proxy += 1) {
        const [first = [], ...later] = await callsOf(relay, kind);
        firsts.push(first);
        steadies.push(...later.slice(before - 1));
      }
      all.push({ kind, first: fewest(firsts), steady: fewest(steadies) });
    }
    return all;
  } finally {
    relay.close();
    await backend.close();
  }
}

/** The calls of consecutive requests to a new proxy. */
async function callsOf(relay: Relay, kind: RequestKind): Promise<readonly (readonly SeenCall[])[]> {
  const flags = { ...houseFlags, backend: relay.url };
  const file = join(packageRoot(), 'pipelines/reference-compatible.yaml');
  return withProxyFile(
    file,
    async ({ url }) => {
      const calls: (readonly SeenCall[])[] = [];
      for (let number = 0; number < before + steadyAsked; number += 1) {
        relay.forget();
        const answer = await fetch(url + kind.path(number), { headers: orgId });
        const text = await answer.text();
        if (answer.status !== 200) throw new Error(`${kind.name} was answered ${answer.status}: ${text}`);
        calls.push(relay.calls);
      }
      return calls;
    },
    { flags },
  );
}

function fewest(all: readonly (readonly SeenCall[])[]): readonly SeenCall[] {
  return all.reduce((least, calls) => (calls.length < least.length ? calls : least), all[0] ?? []);
}

const shownCharacters = 160;

function shown({ path, args }: SeenCall): string {
  const query = (args.get('query') ?? '')
    .replace(/^\{[^}]*\}/, '{...}')
    .replaceAll(/\(!_msg:\* or _msg:="missing [^"]*"\*\)/g, '<no line>');
  const short = query.length > shownCharacters ? `${query.slice(0, shownCharacters)}...` : query;
  return `  ${path.replace('/select/logsql/', '')} ${short}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { kind, first, steady } of await backendCalls()) {
    const aim = kind.isMetric ? `, aims ${aims.first} and ${aims.steady}` : '';
    console.log(`${kind.name}: ${first.length} calls at first, ${steady.length} later${aim}`);
    console.log(['at first', ...first.map(shown), 'later', ...steady.map(shown)].join('\n'));
  }
}
