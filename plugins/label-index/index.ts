/**
 * Stage `label-index`: answers browses of label values from an index, whatever their time range
 * (docs/caching.md#the-index-of-label-values).
 */
import { createHash } from 'node:crypto';
import type { LabelIndexOptions } from '../../core/base/options.gen.js';
import { dataOwner } from '../../core/base/key-parts.js';
import { eachAtPace, Pacer } from '../../core/base/pace/steps.js';
import { besideCaches } from '../../core/base/memory/cache-room.js';
import { createFingerprint, runningDeletions } from '../../core/cache/keys.js';
import {
  browseDefault,
  type IndexKey,
  LabelIndex,
  type LabelIndexObserver,
} from '../../core/cache/label-index/label-index.js';
import { keptIndex } from '../../core/cache/label-index/snapshot.js';
import type { SnapshotObserver } from '../../core/base/files/kept-snapshot.js';
import { isFound, pageOf } from '../../core/operations/rules/paging.js';
import type { NamesAnswer } from '../../core/wire/answer/types.js';
import type { LabelValuesRequest } from '../../core/wire/api/request.js';
import { defineStage, type Exchange, type Host, type Stage } from '../../core/plugin/index.js';
import type { Meters } from '../../core/base/meters.js';
import type { Logger } from '../../core/base/logger.js';

export const indexMetrics = {
  label_index_hits_total: { type: 'counter', help: 'Requests for label values answered from the index.' },
  label_index_misses_total: {
    type: 'counter',
    help: 'Requests for label values that were read from the backend, because the label was not indexed yet.',
  },
  label_index_labels: { type: 'gauge', help: 'Labels in the index, for all tenants.' },
  label_index_entries: { type: 'gauge', help: 'Values in the index, for all labels.' },
  label_index_bytes: { type: 'gauge', help: 'Memory used by the index, in bytes.' },
  label_index_evictions_total: {
    type: 'counter',
    help: 'Values evicted from the index, by limit: -label-values-index-max-entries of a label (entries), or eviction of the whole label at the limit of labels (labels) or memory (bytes).',
    labels: ['reason'],
  },
  label_index_snapshots_total: {
    type: 'counter',
    help: 'Snapshots of the index by outcome: written, failed.',
    labels: ['outcome'],
  },
  label_index_snapshot_bytes: { type: 'gauge', help: 'Size of the last snapshot in bytes.' },
  label_index_snapshot_write_seconds: {
    type: 'histogram',
    help: 'Duration of writing a snapshot of the index.',
  },
} as const;

export default defineStage<LabelIndexOptions, 'tenant', never, typeof indexMetrics>({
  name: 'label-index',
  summary: 'Answers label value requests from an in-memory index that it builds from backend answers.',
  needs: ['tenant'],
  gives: [],
  rest: 'maybe',
  optional: true,
  keepsAnswers: true,
  metrics: indexMetrics,
  create: (options, host) => (options.enabled ? labelIndexStage(options, host) : passThrough),
});

const passThrough: Stage<'tenant', never> = { handle: (exchange, rest) => rest(exchange) };

function labelIndexStage(
  options: LabelIndexOptions,
  host: Host<typeof indexMetrics>,
): Stage<'tenant', never> {
  const { meters, log, clock } = host;
  const index = new LabelIndex(options, clock, indexObserver(meters, log, options.maxBytes));
  const fingerprintOf = createFingerprint(options);
  const deletions = runningDeletions(host);
  const bytes = (): number => index.bytes;
  besideCaches(host).add(bytes);
  host.onStop(() => besideCaches(host).delete(bytes));
  host.onStop(browseDefault(host).claim(options.hotLimit));
  const kept = keptIndex({ options, index, observer: snapshotObserver(meters) }, host);

  function keyOf({ name }: LabelValuesRequest, { slots, caller }: Exchange<'tenant'>): IndexKey {
    const { tenant } = slots;
    const owner = createHash('sha256')
      .update(`${host.setup} ${dataOwner(tenant)}`)
      .digest('hex')
      .slice(0, 16);
    const credentials = fingerprintOf(caller.headers) ?? '';
    return { tenantId: tenant.id, owner, credentials, label: name };
  }

  return {
    start: () => kept.start(),
    ready: () => (kept.isWarming ? 'label values index is loading' : undefined),
    stop: () => kept.stop(),
    purge: (_scope, tenantId) => kept.purge(tenantId),
    async handle(exchange, rest) {
      const { request, slots, signal, trace } = exchange;
      if (request.op !== 'label_values' || kept.isWarming || slots.tenant.hasNoData === true)
        return rest(exchange);
      if (deletions.touch(slots.tenant)) return rest(exchange);
      const key = keyOf(request, exchange);
      const isBrowse = request.query === undefined;
      if (isBrowse) {
        const known = await index.browse(key, request.browse, signal);
        trace.cache(known === undefined ? 'miss' : 'hit');
        meters[known === undefined ? 'label_index_misses_total' : 'label_index_hits_total'].add(1, {});
        if (known !== undefined) return { kind: 'names', ...known, warnings: [] };
      }
      const generation = index.generationOf(key);
      const whole = await rest(exchange.derive({ request: { ...request, browse: {} }, isFinal: false }));
      if (whole.kind !== 'names') return whole;
      // A warning means that the listing is incomplete.
      if (whole.warnings.length === 0) {
        await index.learn(key, whole.values, isBrowse, generation);
        const learnt = isBrowse ? await index.browse(key, request.browse, signal) : undefined;
        if (learnt !== undefined) return { kind: 'names', ...learnt, warnings: [] };
      }
      return cut(whole, request, signal);
    },
  };
}

/** The requested page of a whole listing. */
async function cut(
  whole: NamesAnswer,
  { browse }: LabelValuesRequest,
  signal: AbortSignal,
): Promise<NamesAnswer> {
  const found: string[] = [];
  await eachAtPace(whole.values, new Pacer(signal), (value) => {
    if (isFound(value, browse)) found.push(value);
  });
  return { ...whole, values: pageOf(found, browse) };
}

type IndexMeters = Meters<typeof indexMetrics>;

function indexObserver(meters: IndexMeters, log: Logger, maxBytes: number): LabelIndexObserver {
  return {
    resized: (labels, entries, bytes) => {
      meters.label_index_labels.set(labels, {});
      meters.label_index_entries.set(entries, {});
      meters.label_index_bytes.set(bytes, {});
    },
    evicted: (reason, values) => meters.label_index_evictions_total.add(values, { reason }),
    refused: (label, bytes) => {
      log.warn('a label is too large for the index: it needs more memory than label-index.maxBytes', {
        'label.name': label,
        'label.bytes': bytes,
        'index.max_bytes': maxBytes,
      });
    },
  };
}

function snapshotObserver(meters: IndexMeters): SnapshotObserver {
  return {
    wrote: (bytes, tookMs) => {
      meters.label_index_snapshots_total.add(1, { outcome: 'written' });
      meters.label_index_snapshot_bytes.set(bytes, {});
      meters.label_index_snapshot_write_seconds.observe(tookMs / 1000, {});
    },
    failed: () => meters.label_index_snapshots_total.add(1, { outcome: 'failed' }),
  };
}
