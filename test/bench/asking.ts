/** The headers that select a VictoriaLogs account. */
export interface Account extends Readonly<Record<string, string>> {
  readonly AccountID: string;
  readonly ProjectID: string;
}

/** A server's URL, and the tenant headers of its requests. */
export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export const tenantHeader = { 'X-Scope-OrgID': 'bench' };

/** The arguments that start a proxy with backend accounts as its tenants. */
export function serveArguments(
  backendUrl: string,
  accounts: Readonly<Record<string, Account>>,
): readonly string[] {
  const tenants = Object.entries(accounts).map(
    ([tenant, { AccountID: account_id, ProjectID: project_id }]) => [tenant, { account_id, project_id }],
  );
  return [
    'serve',
    '-listen=127.0.0.1:0',
    '-admin-listen=127.0.0.1:0',
    `-backend=${backendUrl}`,
    `-tenant-map=${JSON.stringify(Object.fromEntries(tenants))}`,
    '-rate-limit-per-second=0',
  ];
}

/** @returns milliseconds until the whole response has arrived */
export async function ask({ url, headers }: Target, path: string, form: URLSearchParams): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(new URL(path, url), {
    method: 'POST',
    headers: { ...headers, 'Accept-Encoding': 'identity' },
    body: form,
  });
  const body = await answer.arrayBuffer();
  if (answer.status !== 200) {
    throw new Error(
      `${path} was answered ${answer.status}: ${Buffer.from(body).toString('utf8').slice(0, 300)}`,
    );
  }
  return performance.now() - startedAt;
}

/** The parameters of a stepped time range, and the window width that belongs to it. */
export interface Steps {
  readonly width: string;
  readonly range: Readonly<Record<'start' | 'end' | 'step', string>>;
}

/**
 * Returns a stepped range that a cache cannot have values for: it starts and ends `moved` minutes inside the full range, and its steps and
 * windows are `moved` seconds longer.
 */
export function movedSteps(startMs: number, endMs: number, widthSeconds: number, moved: number): Steps {
  const width = `${widthSeconds + moved}s`;
  const [start, end] = [startMs + moved * msPerMinute, endMs - moved * msPerMinute];
  return { width, range: { start: nanoseconds(start), end: nanoseconds(end), step: width } };
}

const msPerMinute = 60_000;

export function nanoseconds(ms: number): string {
  return `${ms}000000`;
}

let nonces = 0;

/** A text that no cache has seen yet. */
export function nonce(): string {
  nonces += 1;
  return `nonce${process.pid}x${nonces}x${Math.floor(Math.random() * 1e9).toString(36)}`;
}

export function quantile(values: readonly number[], share: number): number {
  return (
    [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN
  );
}
