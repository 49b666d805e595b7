import { readLines } from '../../conformance/cases.js';

/** Pushes the entries of the corpus to an empty Loki; does nothing if tenant t1 already has entries. */
export async function loadLoki(url: string): Promise<void> {
  if (await hasEntries(url)) return;
  for (const line of readLines('test/data/conformance/dataset.jsonl.gz')) {
    // The corpus is data of this repository.
    const { tenant, streams } = JSON.parse(line) as { readonly tenant: string; readonly streams: unknown };
    await pushToLoki(url, tenant, JSON.stringify({ streams }));
  }
  // Statistics and volumes count chunks, so all entries must be in chunks.
  const flushed = await fetch(`${url}/flush`, { method: 'POST' });
  await flushed.arrayBuffer();
}

/** Sends one push request, as JSON. */
export async function pushToLoki(url: string, tenant: string, body: string): Promise<void> {
  const answer = await fetch(`${url}/loki/api/v1/push`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-scope-orgid': tenant },
    body,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`Loki refused a push: ${answer.status} ${text.slice(0, 300)}`);
}

async function hasEntries(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/loki/api/v1/labels?start=1793491200&end=1793512800`, {
    headers: { 'x-scope-orgid': 't1' },
  });
  return (await answer.text()).includes('service_name');
}
