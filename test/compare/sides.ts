import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import type { Answered } from '../../core/comparison/answers.js';
import { openProxy } from '../conformance/target.js';
import { makeDataset, type Dataset, type DatasetSettings } from './data/dataset.js';
import { partyAt, pushToBackend } from './parties.js';
import type { Question } from './question.js';
import type { Ask } from './verdict.js';

/** Settings for a few logs, the same in each test run. */
export function fewSettings(seed: number): DatasetSettings {
  return {
    seed,
    tenants: ['a', 'b'],
    endNs: 1_793_500_000n * 1_000_000_000n,
    streams: 6,
    linesPerStream: 12,
  };
}

export function fewLogs(seed: number): Dataset {
  return makeDataset(fewSettings(seed));
}

/** A proxy with these logs; tests use it as both sides of a comparison. */
export async function oneProxy(data: Dataset): Promise<{ readonly ask: Ask; close(): Promise<void> }> {
  const backend = await startDevBackend();
  const accounts = data.tenants.map(({ tenant }, index) => [tenant, { account: 1, project: index }] as const);
  for (const [index, tenant] of data.tenants.entries())
    await pushToBackend(backend.url, tenant, { account: 1, project: index });
  const map = accounts.map(([tenant, { account, project }]) => [
    tenant,
    { account_id: account, project_id: project },
  ]);
  const proxy = await openProxy(backend, [], [['tenant-map', JSON.stringify(Object.fromEntries(map))]]);
  const party = partyAt(proxy.urls.main);
  return {
    ask: party.ask,
    close: async () => {
      await party.close();
      await proxy.close();
      await backend.close();
    },
  };
}

/** Alters responses: replaces a text in them if the query contains a given part. */
export function bent(ask: Ask, part: string, from: string, to: string): Ask {
  return async (question: Question): Promise<Answered> => {
    const answer = await ask(question);
    if (question.query?.text.includes(part) !== true) return answer;
    return { ...answer, body: JSON.parse(JSON.stringify(answer.body).replaceAll(from, to)) as unknown };
  };
}
