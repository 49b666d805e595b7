import { startDevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { withProxyFile } from '../../../../core/testing/index.js';
import { pushLoki } from '../../../plugins/embedded-backend/harness.js';

/** A response as the client received it. */
export interface Got {
  readonly status: number;
  readonly text: string;
}

/** A running proxy with an embedded backend, as a client sees it. */
export interface Door {
  /** Sends a request to the read API, as tenant `1` by default. */
  readonly get: (
    path: string,
    params?: Readonly<Record<string, string>>,
    orgId?: string,
    more?: Readonly<Record<string, string>>,
  ) => Promise<Got>;
  /** Stores lines of one stream at these times. */
  readonly push: (
    labels: Readonly<Record<string, string>>,
    lines: readonly Line[],
    account?: number,
  ) => Promise<void>;
}
export type Line = readonly [ns: bigint, line: string];

/** Starts the default pipeline for a test, with additional flags. */
export async function withDoor(
  use: (door: Door) => Promise<void>,
  flags: Readonly<Record<string, string>> = {},
): Promise<void> {
  const backend = await startDevBackend();
  try {
    await withProxyFile('pipelines/reference-compatible.yaml', ({ url }) => use(doorOf(url, backend.url)), {
      flags: { backend: backend.url, 'rate-limit-per-second': '0', ...flags },
    });
  } finally {
    await backend.close();
  }
}

function doorOf(url: string, backendUrl: string): Door {
  return {
    get: async (path, params = {}, orgId = '1', more = {}) => {
      const search = new URLSearchParams(params).toString();
      const headers = orgId === '' ? more : { 'x-scope-orgid': orgId, ...more };
      const response = await fetch(`${url}${path}?${search}`, { headers });
      return { status: response.status, text: await response.text() };
    },
    push: async (labels, lines, account = 1) => {
      const query = '?disable_message_parsing=1';
      const response = await pushLoki(backendUrl, labels, lines, query, { accountid: String(account) });
      if (!response.ok) throw new Error(`the push was refused: ${await response.text()}`);
    },
  };
}
