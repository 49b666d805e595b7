import { request } from 'undici';
import { addTo } from '../../core/base/order.js';
import type { DemoDataOptions } from '../../core/base/options.gen.js';
import { authorizationOf } from '../../core/base/url-credentials.js';
import { defineService } from '../../core/plugin/index.js';
import { pause } from '../../core/base/time/waits.js';
import {
  deploymentOf,
  entriesOf,
  incidentBeforeMs,
  linesPerRequest,
  type SampleEntry,
  type Story,
  type Door,
} from './story.js';

const batchSize = 2000;
/** Interval at which live entries are sent. */
const liveMs = 500;
/** Maximum age of live entries that a busy process still sends. */
const catchUpMs = 60_000;

/** Fills a backend with the logs of a few fictional services: some history at start, then live entries at the same rate. */
export default defineService<DemoDataOptions>({
  name: 'demo-data',
  isSingle: true,
  summary: 'Generates sample logs of a few services: some history and live entries.',
  create(options, host) {
    const stopped = new AbortController();
    const requestMs = (1000 * linesPerRequest) / options.linesPerSecond;
    let live: Promise<void> | undefined;

    async function push({ path, type, body }: Push, signal: AbortSignal): Promise<void> {
      const url = new URL(path, options.target);
      const authorization = authorizationOf(url);
      const answer = await request(url, {
        method: 'POST',
        headers: { 'content-type': type, ...(authorization === undefined ? {} : { authorization }) },
        body,
        signal,
      });
      const text = await answer.body.text();
      if (answer.statusCode >= 300)
        throw new Error(`the backend refused sample logs: ${answer.statusCode} ${text.slice(0, 200)}`);
    }

    /** Sends the entries of the requests that end in [fromMs, toMs). */
    async function send(story: Story, fromMs: number, toMs: number, signal: AbortSignal): Promise<number> {
      let batch: SampleEntry[] = deploymentOf(story).filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
      let count = batch.length;
      const last = Math.ceil(toMs / requestMs);
      for (let number = Math.ceil(fromMs / requestMs); number < last; number += 1) {
        const entries = entriesOf(story, number, Math.round(number * requestMs));
        count += entries.length;
        batch.push(...entries);
        if (batch.length < batchSize && number + 1 < last) continue;
        for (const each of pushesOf(batch)) await push(each, signal);
        batch = [];
      }
      return count;
    }

    async function goOn(story: Story, fromMs: number, signal: AbortSignal): Promise<void> {
      const isStopped = (): boolean => signal.aborted;
      for (let sentMs = fromMs; ;) {
        await pause(liveMs, signal);
        if (isStopped()) return;
        const nowMs = host.clock.nowMs();
        try {
          await send(story, Math.max(sentMs, nowMs - catchUpMs), nowMs, signal);
        } catch (error) {
          if (!isStopped()) host.log.warn('failed to push sample lines', { error });
        }
        sentMs = nowMs;
      }
    }

    return {
      async start(signal) {
        if (options.linesPerSecond === 0) return;
        const nowMs = host.clock.nowMs();
        const story = { seed: options.seed, incidentMs: nowMs - incidentBeforeMs };
        const count = await send(story, nowMs - options.history, nowMs, signal);
        host.log.info('sample history pushed', { 'demo.lines': count });
        live = goOn(story, nowMs, stopped.signal);
      },
      async stop() {
        stopped.abort();
        await live;
      },
    };
  },
});

/** A request that pushes entries to VictoriaLogs like a collector would. */
interface Push {
  /** Path and query string. */
  readonly path: string;
  readonly type: string;
  readonly body: string;
}

/** Makes one request per ingestion API and list of stream fields. */
function pushesOf(entries: readonly SampleEntry[]): readonly Push[] {
  const groups = new Map<string, SampleEntry[]>();
  for (const entry of entries)
    addTo(groups, entry.door === 'loki' ? entry.door : `${entry.door} ${streamFields(entry)}`, entry);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [writers[first.door](group, streamFields(first))];
  });
}

function streamFields({ labels }: SampleEntry): string {
  return Object.keys(labels).join(',');
}

const writers: Readonly<Record<Door, (entries: readonly SampleEntry[], streamFields: string) => Push>> = {
  loki: (entries) => ({
    path: '/insert/loki/api/v1/push?disable_message_parsing=1',
    type: 'application/json',
    body: JSON.stringify({
      streams: entries.map(({ labels, atMs, line, fields }) => ({
        stream: labels,
        values: [[`${atMs}000000`, line, fields]],
      })),
    }),
  }),
  jsonLine: (entries, names) => ({
    path: `/insert/jsonline?_stream_fields=${names}&_msg_field=log&_time_field=time`,
    type: 'application/stream+json',
    body: linesOf(
      entries.map(({ labels, atMs, line, fields }) => ({
        ...{ ...labels, ...fields },
        ...{ log: line, time: new Date(atMs).toISOString() },
      })),
    ),
  }),
  elasticsearch: (entries, names) => ({
    path: `/insert/elasticsearch/_bulk?_stream_fields=${names}&_msg_field=message&_time_field=@timestamp`,
    type: 'application/x-ndjson',
    body: linesOf(
      entries.flatMap(({ labels, atMs, line, fields }) => [
        { create: {} },
        { '@timestamp': new Date(atMs).toISOString(), message: line, ...labels, ...fields },
      ]),
    ),
  }),
};

function linesOf(objects: readonly object[]): string {
  return objects.map((each) => `${JSON.stringify(each)}\n`).join('');
}
