import type { ExecutionContext } from 'ava';

import {
  type DevBackend,
  type DevBackendOptions,
  startDevBackend,
} from '../../../plugins/embedded-backend/dev-backend.js';

/** Starts a backend for one test and closes it afterwards. */
export async function withBackend(
  t: ExecutionContext,
  options: DevBackendOptions,
  run: (backend: DevBackend) => Promise<void>,
): Promise<void> {
  const backend = await startDevBackend(options);
  try {
    await run(backend);
  } finally {
    await backend.close();
  }
  t.pass();
}

/** Pushes entries of one stream in Loki's JSON format, with unchanged lines. */
export async function pushLoki(
  url: string,
  labels: Readonly<Record<string, string>>,
  values: readonly (
    readonly [bigint, string] | readonly [bigint, string, Readonly<Record<string, string>>]
  )[],
  query = '?disable_message_parsing=1',
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const entries = values.map(([time, ...rest]) => [time.toString(), ...rest]);
  return fetch(`${url}/insert/loki/api/v1/push${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ streams: [{ stream: labels, values: entries }] }),
  });
}

/** Queries a select endpoint with POST. */
export function select(
  url: string,
  endpoint: string,
  params: Readonly<Record<string, string>>,
  init: RequestInit = {},
): Promise<Response> {
  return fetch(`${url}/select/logsql/${endpoint}`, {
    method: 'POST',
    body: new URLSearchParams(params),
    ...init,
  });
}

/** Rows of `/query`. */
export async function rows(
  url: string,
  query: string,
  params: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Record<string, string>[]> {
  const response = await select(url, 'query', { query, ...params }, { headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, string>);
}
