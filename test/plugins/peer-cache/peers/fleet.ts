import type { ExecutionContext } from 'ava';
import type { DevBackend, FaultRule } from '../../../../plugins/embedded-backend/dev-backend.js';
import { startDevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { withProxy, type ProxyUnderTest } from '../../../../core/testing/index.js';
import { pushLoki } from '../../embedded-backend/harness.js';
import { freePort } from '../../../core/program/child.js';
import { pipeline } from '../stored.js';

export const token = 'a secret of the fleet';
export const auth = { 'x-peer-token': token };

export interface Replica extends ProxyUnderTest {
  /** `host:port`, as the others see it. */
  readonly address: string;
}

export interface FleetSettings {
  readonly backend: string;
  readonly replicas?: number;
  /** Flags of all replicas; the fleet flags are set automatically. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Flags of one replica. */
  readonly flagsOf?: (place: number) => Readonly<Record<string, string>>;
  /** Members other than the replicas. */
  readonly others?: readonly string[];
  readonly hasToken?: boolean;
  /** The address that they listen on, and so call from. */
  readonly host?: string;
  /** Extra stages: `stages` before the cache, `early` before the translation. */
  readonly stages?: string;
  readonly early?: string;
  /** Extra endpoints. */
  readonly endpoints?: string;
}

let hosts = 0;

/** A separate loopback address: another process may take a port of 127.0.0.1 before the replica listens on it. */
function nextHost(): string {
  hosts += 1;
  return `127.${64 + (process.pid % 128)}.${Math.floor(hosts / 250)}.${1 + (hosts % 250)}`;
}

/** Starts replicas with static peer lists, and stops them after the test. */
export async function withFleet(
  settings: FleetSettings,
  use: (replicas: readonly Replica[]) => Promise<void>,
): Promise<void> {
  const {
    backend,
    replicas = 3,
    flags = {},
    flagsOf = () => ({}),
    others = [],
    endpoints = '',
    stages = '',
    early = '',
    hasToken = true,
  } = settings;
  const ports = await Promise.all(Array.from({ length: replicas }, () => freePort()));
  const addresses = ports.map((port) => `${settings.host ?? nextHost()}:${port}`);
  const running: Replica[] = [];
  const start = async (place: number): Promise<void> => {
    const address = addresses[place];
    if (address === undefined) return use(running);
    await withProxy(
      `${pipeline(backend, '', early)}${endpoints}\n`.replace(
        '  - use: peer-cache',
        `${stages}\n  - use: peer-cache`,
      ),
      async (under) => {
        running.push({ ...under, address });
        await start(place + 1);
      },
      {
        flags: {
          listen: address,
          'server.register-instrumentation': 'true',
          'peer-self': address,
          'peer-discovery': 'static',
          'peer-static': [...addresses, ...others].join(','),
          ...(hasToken ? { 'peer-auth-token': token } : {}),
          // The machine may be busy with other tests.
          'peer-patience': '20s',
          'peer-timeout': '20s',
          ...flags,
          ...flagsOf(place),
        },
      },
    );
  };
  await start(0);
}

/** A backend with old lines in several streams. */
export async function filled(t: ExecutionContext): Promise<DevBackend> {
  const backend = await startDevBackend({ faults: true });
  t.teardown(() => backend.close());
  for (const app of apps)
    for (const tenant of tenants)
      await pushLoki(
        backend.url,
        { app },
        Array.from({ length: 5 }, (_, at): [bigint, string] => [
          oldNs + BigInt(at) * 1_000_000_000n,
          `${tenant} ${app} ${at}`,
        ]),
        '?disable_message_parsing=1',
        { AccountID: tenant, ProjectID: '0' },
      );
  return backend;
}

export const apps = ['a', 'b', 'c', 'd'];
export const tenants = ['0', '1', '2'];
/** Three hours ago, at a whole second. */
export const oldNs = BigInt(Math.floor(Date.now() / 1000) - 3 * 3600) * 1_000_000_000n;

/** The path of a query for the lines of an app; each `number` gives a different query. */
export function pathOf(app: string, number = 0): string {
  const params = new URLSearchParams({
    query: `{app="${app}"}`,
    start: String(oldNs - BigInt(number + 1) * 1_000_000_000n),
    end: String(oldNs + 60_000_000_000n),
  });
  return `/loki/api/v1/query_range?${params.toString()}`;
}

/** The response of a replica, without statistics. */
export async function ask(
  { url }: Pick<Replica, 'url'>,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const answer = await fetch(url + path, { headers });
  const text = await answer.text();
  if (answer.status !== 200) return `${answer.status} ${text}`;
  const { data } = JSON.parse(text) as { readonly data: { readonly result?: unknown } };
  return JSON.stringify(data.result ?? data);
}

/** Number of backend calls without row counts, which are cached for a while. */
export function callsOf(backend: DevBackend): number {
  return Object.entries(backend.stats().calls)
    .filter(([path]) => path !== '/select/logsql/stats_query')
    .reduce((sum, [, calls]) => sum + calls, 0);
}

export async function setFaults(backend: DevBackend, rules: readonly FaultRule[]): Promise<void> {
  await fetch(`${backend.url}/-/faults`, { method: 'POST', body: JSON.stringify(rules) });
}
