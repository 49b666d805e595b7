import { request } from 'undici';
import type { Clock } from '../../base/clock.js';
import { addTo } from '../../base/order.js';
import { startDevBackend, type DevBackend } from '../../../plugins/embedded-backend/dev-backend.js';

/** A line stored in the embedded backend. */
export interface StoredLine {
  /** Nanoseconds since the epoch; one second before now by default. */
  readonly timeNs?: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly line: string;
  /** Structured metadata. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Account in the backend; 0:0 by default. */
  readonly accountId?: number;
  readonly projectId?: number;
}

/** Starts an embedded backend that contains the given lines. */
export async function startEmbedded(lines: readonly StoredLine[], clock: Clock): Promise<DevBackend> {
  const backend = await startDevBackend({ nowNs: () => clock.nowNs() });
  try {
    for (const ofTenant of byTenant(lines)) await push(backend.url, ofTenant, clock);
    return backend;
  } catch (error) {
    await backend.close();
    throw error;
  }
}

function byTenant(lines: readonly StoredLine[]): Iterable<readonly StoredLine[]> {
  const tenants = new Map<string, StoredLine[]>();
  for (const line of lines) addTo(tenants, `${line.accountId ?? 0}:${line.projectId ?? 0}`, line);
  return tenants.values();
}

async function push(url: string, lines: readonly StoredLine[], clock: Clock): Promise<void> {
  const streams = lines.map(({ labels, timeNs = clock.nowNs() - 1_000_000_000n, line, fields = {} }) => ({
    stream: labels,
    values: [[String(timeNs), line, fields]],
  }));
  const { statusCode, body } = await request(`${url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      AccountID: String(lines[0]?.accountId ?? 0),
      ProjectID: String(lines[0]?.projectId ?? 0),
    },
    body: JSON.stringify({ streams }),
  });
  const text = await body.text();
  if (statusCode >= 300) throw new Error(`the embedded backend refused the lines: ${statusCode} ${text}`);
}
