import { FakeClock } from '../../core/testing/index.js';
import type { GoldenCase } from '../conformance/cases.js';
import { tenantMapOf, type Corpus } from '../conformance/corpus.js';
import { replay, type Outcome } from '../conformance/replay.js';
import { openProxy, type Store } from '../conformance/target.js';
import type { Mode } from './modes.js';

/** The doors, each the tenant of its logs, with their row counts. README.md has a table of them. */
const doors: readonly (readonly [name: string, rows: number])[] = [
  ['jsonline', 250],
  ['filebeat', 260],
  ['fluentbit', 260],
  ['logstash', 240],
  ['vector', 270],
  ['lokijson', 290],
  ['lokiplain', 280],
  ['otlp', 295],
  ['syslog', 270],
  ['journald', 240],
  ['datadog', 240],
  ['splunk', 240],
  ['vlagent', 300],
  ['wide', 620],
  ['collide', 400],
  ['edges', 496],
  ['defaultmsg', 200],
  ['internal', 90],
];

const firstAccount = 101;

/** Rows that a VictoriaLogs stored after logs arrived through each of its ingestion endpoints. */
export const doorsCorpus: Corpus = {
  accounts: new Map(doors.map(([name], index) => [name, firstAccount + index])),
  entries: [],
  rows: ['test/data/doors/rows.jsonl.gz'],
  wanted: new Map(doors),
  range: { start: 1_795_305_600, end: 1_795_320_000 },
};

/** Three days after the logs: volumes older than a day come from chunks, as they did when they were recorded. */
const recordedNs = 1_795_564_800_000_000_000n;

/** Replays cases in a mode, with the default pipeline and the settings of the recordings. */
export async function replayIn(
  mode: Mode,
  store: Store,
  cases: readonly GoldenCase[],
): Promise<readonly Outcome[]> {
  const flags = [
    ['tenant-map', tenantMapOf(doorsCorpus)],
    ['backend-default-msg-value', '(no message)'],
    ...mode.flags,
  ] as const;
  const proxy = await openProxy(store, [], flags, new FakeClock(recordedNs));
  try {
    if (mode.isWarm === true) await replay(proxy.urls.main, cases);
    return await replay(proxy.urls.main, cases);
  } finally {
    await proxy.close();
  }
}
