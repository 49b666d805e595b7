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

/** How a proxy is started whose tenant is an account of a backend. */
export function serveArguments(backendUrl: string, account: Account): readonly string[] {
  const { AccountID: account_id, ProjectID: project_id } = account;
  return [
    'serve',
    '-listen=127.0.0.1:0',
    '-admin-listen=127.0.0.1:0',
    `-backend=${backendUrl}`,
    `-tenant-map=${JSON.stringify({ [tenantHeader['X-Scope-OrgID']]: { account_id, project_id } })}`,
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
