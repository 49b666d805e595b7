/** Stage `kept-patterns`: caches the patterns of past time ranges, also over a restart, and prefetches them. */
import type { KeptPatternsOptions } from '../../core/base/options.gen.js';
import { cacheBudget } from '../../core/base/memory/account.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';
import { cacheRoom } from '../../core/base/memory/cache-room.js';
import { Generations, runningDeletions, tenantPart } from '../../core/cache/keys.js';
import { SpareTime, whileIdle } from '../../core/cache/spare-time.js';
import { LogqlError, printSelector } from '../../core/logql/index.js';
import { usualPatternSearch } from '../../core/operations/pattern-search.js';
import { isNotPast } from '../../core/operations/rules/common.js';
import {
  type Answer,
  defineStage,
  type Exchange,
  type Host,
  type Rest,
  type Stage,
} from '../../core/plugin/index.js';
import type { PatternsAnswer } from '../../core/wire/answer/types.js';
import { type PatternsRequest, type QueryRangeRequest, Selector } from '../../core/wire/api/request.js';
import { usualPatterns } from '../../core/wire/api/params/index.js';
import { type PatternKey, patternKeys, PatternStore } from './store.js';
import { keptPatternsMetrics } from './metrics.js';
import { keptPatterns } from './snapshot.js';
import { encodeSteps } from '../../core/wire/answer/encode.js';

export default defineStage<KeptPatternsOptions, 'tenant', never, typeof keptPatternsMetrics>({
  name: 'kept-patterns',
  summary: 'Caches patterns of past time ranges, keeps them across restarts and prefetches them.',
  needs: ['tenant'],
  gives: [],
  rest: 'many',
  optional: true,
  keepsAnswers: true,
  metrics: keptPatternsMetrics,
  create: (options, host) => keptPatternsStage(options, host),
});

/** Divisor of the cache budget: patterns may use this part of it, in addition. */
const budgetDivisor = 8;

function keptPatternsStage(
  options: KeptPatternsOptions,
  host: Host<typeof keptPatternsMetrics>,
): Stage<'tenant', never> {
  const maxBytes = Math.floor(cacheBudget(options.cacheMaxBytes) / budgetDivisor);
  const store = new PatternStore(maxBytes, host.clock, host.meters);
  host.onStop(cacheRoom(options, host).add(store));
  const kept = keptPatterns(options, store, host);
  /** Answers requested before a purge are not stored after it. */
  const generations = new Generations();
  const deletions = runningDeletions(host);
  const keysOf = patternKeys(options, host.setup);
  let running = 0;
  const spare = new SpareTime(
    host,
    whileIdle(() => running === 0),
  );

  async function patterns(
    exchange: Exchange<'tenant'>,
    request: PatternsRequest,
    rest: Rest,
  ): Promise<Answer> {
    const key = keyOf(exchange, request);
    if (key === undefined) return rest(exchange);
    const known = find(key);
    exchange.trace.cache(known === undefined ? 'miss' : 'hit');
    if (known === undefined) return (await ask(key, exchange, rest)).answer;
    host.meters.patterns_snapshot_reused_total.add(1, {});
    return known;
  }

  /** Undefined for a range that may still change, and for an invalid selector, which a later stage reports. */
  function keyOf(exchange: Exchange<'tenant'>, request: PatternsRequest): PatternKey | undefined {
    if (isNotPast(request, host.clock.nowMs(), options)) return undefined;
    try {
      return keysOf(exchange, request);
    } catch (error) {
      if (error instanceof LogqlError) return undefined;
      throw error;
    }
  }

  function find({ text }: PatternKey): PatternsAnswer | undefined {
    const { meters, log } = host;
    const known = store.get(text);
    if (known === undefined) {
      meters.patterns_snapshot_misses_total.add(1, {});
      return undefined;
    }
    meters.patterns_snapshot_hits_total.add(1, {});
    try {
      return answerOf(known.body);
    } catch (error) {
      log.warn('dropped unreadable patterns from the cache', { error });
      store.delete(text);
      return undefined;
    }
  }

  async function ask(
    key: PatternKey,
    exchange: Exchange<'tenant'>,
    rest: Rest,
  ): Promise<{ readonly answer: Answer; readonly isKept: boolean }> {
    const owner = keysOfOwner(exchange);
    const generation = generations.of(owner);
    const answer = await rest(exchange);
    // Partial answers are not cached, nor empty ones, which may be due to late lines.
    if (answer.kind !== 'patterns' || answer.warnings.length > 0 || answer.patterns.length === 0)
      return { answer, isKept: false };
    const body = await bodyOf(answer, new Pacer(exchange.signal));
    if (generation !== generations.of(owner)) return { answer, isKept: false };
    const updatedMs = host.clock.nowMs();
    const isKept = store.set(key, { body, patterns: answer.patterns.length, updatedMs });
    return { answer, isKept };
  }

  /**
   * Queues a prefetch of the patterns of lines that were just queried: clients often request both, for the same time range. A range that
   * may still change is skipped, because its patterns would be outdated by then.
   */
  function learn(
    exchange: Exchange<'tenant'>,
    { query, range }: QueryRangeRequest,
    answer: Answer,
    rest: Rest,
  ): void {
    const search = usualPatternSearch(host).current?.();
    // Behind `translate`, the prefetch would inherit the plan of this request.
    if (search === undefined || exchange.slots.plan !== undefined) return;
    if (answer.kind !== 'streams' || answer.streams.length === 0 || answer.warnings.length > 0) return;
    const { ast } = query;
    if (ast.kind !== 'log') return;
    const { matchers } = ast.selector;
    const selector = new Selector(printSelector({ matchers }), host.naming.dottedNames, matchers);
    const request = usualPatterns(selector, range, search);
    const key = keyOf(exchange, request);
    if (key === undefined || store.has(key.text)) return;
    const tell = (outcome: string): void => host.meters.patterns_autodetect_total.add(1, { outcome });
    const isWaiting = spare.add(key.text, exchange.derive({ request }), async (detached) => {
      const { isKept } = await ask(key, detached, rest);
      tell(isKept ? 'found' : 'none');
    });
    if (!isWaiting) tell('dropped');
  }

  return {
    start: () => kept.start(),
    ready: () => (kept.isWarming ? 'patterns cache is loading' : undefined),
    async handle(exchange, rest) {
      running += 1;
      try {
        const { request } = exchange;
        if (deletions.touch(exchange.slots.tenant)) return await rest(exchange);
        if (request.op === 'patterns') return await patterns(exchange, request, rest);
        const answer = await rest(exchange);
        if (options.autodetectFromQueries && request.op === 'query_range')
          learn(exchange, request, answer, rest);
        return answer;
      } finally {
        running -= 1;
      }
    },
    async purge(_scope, tenantId) {
      generations.next(tenantId);
      await kept.purge(tenantId);
    },
    async stop() {
      spare.stop();
      await kept.stop();
    },
  };
}

/** The tenant in the form that Generations expects. */
function keysOfOwner({ slots }: Exchange<'tenant'>): string {
  return `${tenantPart(slots.tenant.id)}:`;
}

type Patterns = PatternsAnswer['patterns'];

/** The bytes that are sent to clients. */
async function bodyOf(answer: PatternsAnswer, pacer: Pacer): Promise<Buffer> {
  const { body } = await atPace(encodeSteps(answer, { categorizeLabels: false }), pacer);
  return body;
}

/** Parses such bytes; throws if they are invalid, since they may come from a file. */
function answerOf(body: Buffer): PatternsAnswer {
  const { data } = JSON.parse(body.toString()) as { readonly data?: unknown };
  if (!Array.isArray(data)) throw new Error('not a list of patterns');
  return { kind: 'patterns', patterns: data.map(patternOf), warnings: [] };
}

function patternOf(value: unknown): Patterns[number] {
  const { pattern, level, samples } = value as Partial<Record<string, unknown>>;
  if (typeof pattern !== 'string' || !(level === undefined || typeof level === 'string'))
    throw new Error('a pattern without text');
  if (!Array.isArray(samples) || !samples.every(isSample)) throw new Error('a pattern without samples');
  return { pattern, level, samples };
}

function isSample(value: unknown): value is Patterns[number]['samples'][number] {
  return Array.isArray(value) && value.length === 2 && value.every((number) => typeof number === 'number');
}
