import { request } from 'undici';

import type { DemoDataOptions } from '../../core/base/options.gen.js';
import { authorizationOf } from '../../core/base/url-credentials.js';
import { defineService } from '../../core/plugin/index.js';
import { pause } from '../../core/base/time/pause.js';
import { Random } from './random.js';
import { sampleEntry, type SampleEntry } from './services.js';

const batchSize = 500;

/** Fills a backend with the logs of a few fictional services: some history at start, then live entries. */
export default defineService<DemoDataOptions>({
  name: 'demo-data',
  isSingle: true,
  summary: 'Sample logs of a few services: some history and live entries.',
  create(options, host) {
    const random = new Random(options.seed);
    const stopped = new AbortController();
    let trickle: Promise<void> | undefined;

    async function push(entries: readonly StampedEntry[], signal: AbortSignal): Promise<void> {
      const url = new URL('/insert/loki/api/v1/push?disable_message_parsing=1', options.target);
      const authorization = authorizationOf(url);
      const answer = await request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(authorization === undefined ? {} : { authorization }),
        },
        body: JSON.stringify({ streams: entries.map(asStream) }),
        signal,
      });
      const text = await answer.body.text();
      if (answer.statusCode >= 300)
        throw new Error(`the backend refused sample logs: ${answer.statusCode} ${text.slice(0, 200)}`);
    }

    async function pushHistory(signal: AbortSignal): Promise<void> {
      const count = Math.round((options.history / 60_000) * options.historyLinesPerMinute);
      const nowMs = host.clock.nowMs();
      let batch: StampedEntry[] = [];
      for (let index = count; index > 0; index -= 1) {
        const at = new Date(nowMs - Math.round((options.history * index) / count));
        batch.push({ at, ...sampleEntry(random, at) });
        if (batch.length < batchSize && index > 1) continue;
        await push(batch, signal);
        batch = [];
      }
      host.log.info('sample history pushed', { 'demo.lines': count });
    }

    async function runTrickle(signal: AbortSignal): Promise<void> {
      const isStopped = (): boolean => signal.aborted;
      for (;;) {
        await pause(1000 / options.linesPerSecond, signal);
        if (isStopped()) return;
        const at = new Date(host.clock.nowMs());
        try {
          await push([{ at, ...sampleEntry(random, at) }], signal);
        } catch (error) {
          if (!isStopped()) host.log.warn('sample line not pushed', { error });
        }
      }
    }

    return {
      async start(signal) {
        await pushHistory(signal);
        if (options.linesPerSecond > 0) trickle = runTrickle(stopped.signal);
      },
      async stop() {
        stopped.abort();
        await trickle;
      },
    };
  },
});

type StampedEntry = SampleEntry & { readonly at: Date };

function asStream(entry: StampedEntry): {
  stream: Readonly<Record<string, string>>;
  values: [string, string, object][];
} {
  const timestampNs = `${entry.at.getTime()}000000`;
  return { stream: entry.labels, values: [[timestampNs, entry.line, entry.structuredMetadata]] };
}
