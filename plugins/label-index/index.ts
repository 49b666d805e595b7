/**
 * Stage `label-index`: answers browses of label values from an index, whatever their time range
 * (docs/caching.md#the-index-of-label-values).
 */
import { createHash } from 'node:crypto';
import type { LabelIndexOptions } from '../../core/base/options.gen.js';
import { dataOwner } from '../../core/base/key-parts.js';
import { eachAtPace, Pacer } from '../../core/base/pace/steps.js';
import { besideCaches } from '../../core/base/memory/cache-room.js';
import {
  createFingerprint,
  type Fingerprint,
  runningDeletions,
  type RunningDeletions,
} from '../../core/cache/keys.js';
import {
  browseDefault,
  type IndexKey,
  LabelIndex,
  type LabelIndexObserver,
} from '../../core/cache/label-index/label-index.js';
import { keptIndex } from '../../core/cache/label-index/snapshot.js';
import type { SnapshotObserver } from '../../core/base/files/kept-snapshot.js';
import type { KeptData } from '../../core/cache/kept-data.js';
import { isFound, pageOf } from '../../core/operations/rules/paging.js';
import type { NamesAnswer } from '../../core/wire/answer/types.js';
import type { LabelValuesRequest } from '../../core/wire/api/request.js';
import {
  type Answer,
  defineStage,
  type Exchange,
  type Host,
  type PurgeScope,
  type Rest,
  type Stage,
} from '../../core/plugin/index.js';
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
  create: (options, host) => (options.enabled ? new LabelIndexStage(options, host) : passThrough),
});

const passThrough: Stage<'tenant', never> = { handle: (exchange, rest) => rest(exchange) };

class LabelIndexStage implements Stage<'tenant', never> {
  readonly #host: Host<typeof indexMetrics>;
  readonly #index: LabelIndex;
  readonly #fingerprint: Fingerprint;
  readonly #deletions: RunningDeletions;
  readonly #kept: KeptData;

  constructor(options: LabelIndexOptions, host: Host<typeof indexMetrics>) {
    const { meters, log, clock } = host;
    this.#host = host;
    this.#index = new LabelIndex(options, clock, indexObserver(meters, log, options.maxBytes));
    this.#fingerprint = createFingerprint(options);
    this.#deletions = runningDeletions(host);
    const bytes = (): number => this.#index.bytes;
    besideCaches(host).add(bytes);
    host.onStop(() => besideCaches(host).delete(bytes));
    host.onStop(browseDefault(host).claim(options.hotLimit));
    this.#kept = keptIndex({ options, index: this.#index, observer: snapshotObserver(meters) }, host);
  }

  start(): Promise<void> {
    return this.#kept.start();
  }

  ready(): string | undefined {
    return this.#kept.isWarming ? 'label values index is loading' : undefined;
  }

  stop(): Promise<void> {
    return this.#kept.stop();
  }

  purge(_scope: PurgeScope, tenantId?: string): Promise<void> {
    return this.#kept.purge(tenantId);
  }

  async handle(exchange: Exchange<'tenant'>, rest: Rest): Promise<Answer> {
    const { request, slots, signal, trace } = exchange;
    const { meters } = this.#host;
    if (request.op !== 'label_values' || this.#kept.isWarming || slots.tenant.hasNoData === true)
      return rest(exchange);
    if (this.#deletions.touch(slots.tenant)) return rest(exchange);
    const key = this.#keyOf(request, exchange);
    const isBrowse = request.query === undefined;
    if (isBrowse) {
      const known = await this.#index.browse(key, request.browse, signal);
      trace.cache(known === undefined ? 'miss' : 'hit');
      meters[known === undefined ? 'label_index_misses_total' : 'label_index_hits_total'].add(1, {});
      if (known !== undefined) return { kind: 'names', ...known, warnings: [] };
    }
    const generation = this.#index.generationOf(key);
    const whole = await rest(exchange.derive({ request: { ...request, browse: {} }, isFinal: false }));
    if (whole.kind !== 'names') return whole;
    // A warning means that the listing is incomplete.
    if (whole.warnings.length === 0) {
      await this.#index.learn(key, whole.values, isBrowse, generation);
      const learnt = isBrowse ? await this.#index.browse(key, request.browse, signal) : undefined;
      if (learnt !== undefined) return { kind: 'names', ...learnt, warnings: [] };
    }
    return cut(whole, request, signal);
  }

  #keyOf({ name }: LabelValuesRequest, { slots, caller }: Exchange<'tenant'>): IndexKey {
    const { tenant } = slots;
    const owner = createHash('sha256')
      .update(`${this.#host.setup} ${dataOwner(tenant)}`)
      .digest('hex')
      .slice(0, 16);
    const credentials = this.#fingerprint(caller.headers) ?? '';
    return { tenantId: tenant.id, owner, credentials, label: name };
  }
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
