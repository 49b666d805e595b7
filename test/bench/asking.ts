/** An account of a VictoriaLogs, as its headers. */
export interface Account extends Readonly<Record<string, string>> {
  readonly AccountID: string;
  readonly ProjectID: string;
}

/** Whom to ask, and as whom. */
export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export const tenantHeader = { 'X-Scope-OrgID': 'bench' };

/** How a proxy is started whose tenants are accounts of a backend. */
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

/** @returns milliseconds until the whole answer was there */
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

/** A range with its step, as parameters, and the width of the windows that belong to it. */
export interface Steps {
  readonly width: string;
  readonly range: Readonly<Record<'start' | 'end' | 'step', string>>;
}

/**
 * The steps of a range that was moved: it begins and ends so many minutes inside of the whole one, and its steps and windows are as many seconds longer, so
 * that none of its times is one for which a cache has a value.
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

/** A text that no cache has seen. */
export function nonce(): string {
  nonces += 1;
  return `nonce${process.pid}x${nonces}x${Math.floor(Math.random() * 1e9).toString(36)}`;
}

export function quantile(values: readonly number[], share: number): number {
  return (
    [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN
  );
}
