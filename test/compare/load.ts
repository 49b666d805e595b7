import type { Dataset, TenantData } from './data/dataset.js';
import { lostRows, type Lost } from './lost.js';
import { countInIndex, countInLoki, pushToBackend, pushToLoki, rowsOf, type Account } from './parties.js';

const timeoutMs = 60_000;
const pauseMs = 200;

/** Fills every Loki and the backend with the same logs, unless they have them already; returns the rows that the backend did not keep. */
export async function load(
  lokiUrls: readonly string[],
  backendUrl: string,
  data: Dataset,
  accounts: ReadonlyMap<string, Account>,
): Promise<readonly Lost[]> {
  const lost: Lost[] = [];
  for (const tenant of data.tenants) {
    const account = accounts.get(tenant.tenant);
    if (account === undefined) throw new Error(`tenant ${tenant.tenant} has no account`);
    for (const url of lokiUrls) {
      await fill(
        tenant.tenant,
        entriesOf(tenant),
        () => countInLoki(url, tenant.tenant, data),
        () => pushToLoki(url, tenant),
      );
    }
    const count = async (): Promise<number> => (await rowsOf(backendUrl, account, data)).length;
    const rows = tenant.sources.reduce(
      (sum, source) => sum + source.rows.length + source.laterRows.length,
      0,
    );
    await fill(tenant.tenant, rows, count, () => pushToBackend(backendUrl, tenant, account));
    lost.push(...lostRows(tenant, await rowsOf(backendUrl, account, data)));
  }
  return lost;
}

async function fill(
  tenant: string,
  wanted: number,
  count: () => Promise<number>,
  push: () => Promise<void>,
): Promise<void> {
  if ((await count()) === wanted) return;
  await push();
  await seen(tenant, wanted, count);
}

function entriesOf({ streams }: TenantData): number {
  return streams.reduce((sum, { entries }) => sum + entries.length, 0);
}

/** Waits until the given number of entries is visible. */
async function seen(tenant: string, wanted: number, count: () => Promise<number>): Promise<void> {
  const until = Date.now() + timeoutMs;
  let last = 0;
  while (Date.now() < until) {
    last = await count();
    if (last === wanted) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error(`tenant ${tenant}: ${last} of ${wanted} entries can be seen`);
}

/** Makes Loki flush its chunks, because its index counts only flushed ones. */
export async function flush(url: string, data: Dataset): Promise<void> {
  await (await fetch(`${url}/flush`, { method: 'POST' })).arrayBuffer();
  for (const tenant of data.tenants)
    await seen(tenant.tenant, entriesOf(tenant), () => countInIndex(url, tenant.tenant, data));
}
