import test from 'ava';
import fc from 'fast-check';
import { type ApiRequest, Query, Selector } from '../../../core/wire/api/request.js';
import type { Answer } from '../../../core/wire/answer/types.js';
import { LabelSet } from '../../../core/base/label-set.js';
import { createLimits } from '../../../core/wire/limits/limits.js';
import type { Rest } from '../../../core/plugin/index.js';
import { limitsOptions, makeExchange, makeTenant } from '../../../core/testing/index.js';
import { answerSeveral } from '../../../plugins/tenancy/several.js';
import {
  indexStatsAnswers,
  matrixAnswers,
  namesAnswers,
  seriesAnswers,
  streamsAnswers,
  vectorAnswers,
} from '../../core/wire/answer/merge/arbitraries.js';

const range = { startNs: 0n, endNs: 4_000_000n };
const logs = new Query('{app="a"}', 'reject');
const counted = new Query('sum by (a) (sum_over_time({app="a"} | unwrap x [1s]))', 'reject');
const selector = new Selector('{app="a"}', 'reject');
const ranged = { range, stepNs: 1_000_000n, limit: 5, intervalNs: 0n };
const volume = { range, query: selector, limit: 3, targetLabels: [], aggregateBy: 'series' } as const;
const scan = { range, query: logs, lineLimit: 100, limit: 3 };
const stats = {
  linesProcessed: 1,
  bytesProcessed: 2,
  entriesReturned: 0,
  postFilterLines: 0,
  structuredMetadataBytes: 0,
  execTimeMs: 0,
  splits: 1,
};

const few = fc.shuffledSubarray(['x', 'y', 'z', 'w'], { minLength: 1 });
const labelled = fc.constantFrom('1', '2').map((value) => LabelSet.from([['a', value]]));
const warnings = fc.array(fc.constantFrom('w1', 'w2'), { maxLength: 2 });
const levels = fc.constantFrom('info', 'error');
const volumes: fc.Arbitrary<Answer> = fc.record({
  kind: fc.constant('volume' as const),
  series: fc.uniqueArray(
    fc.record({
      labels: labelled,
      points: fc.constantFrom(1, 2).map((value) => [{ timestampMs: 4, value }]),
    }),
    { selector: ({ labels }) => labels.key },
  ),
  stats: fc.constant(stats),
  warnings,
});
const patterns: fc.Arbitrary<Answer> = fc
  .uniqueArray(fc.tuple(fc.constantFrom('p', 'q', 'r'), levels, fc.integer({ min: 1, max: 3 })), {
    selector: ([pattern, level]) => `${level}${pattern}`,
  })
  .map((all) => ({
    kind: 'patterns',
    patterns: all.map(([pattern, level, count]) => ({ pattern, level, samples: [[0, count]] })),
    warnings: [],
  }));
const fields: fc.Arbitrary<Answer> = few.chain((labels) =>
  fc.tuple(few, fc.constantFrom('string' as const, 'int' as const)).map(([values, type]) => ({
    kind: 'detected-fields' as const,
    fields: labels.map((label) => ({ label, type, parsers: ['json'] as const, values, jsonPath: values })),
    limit: 3,
    warnings: [],
  })),
);
const fieldValues: fc.Arbitrary<Answer> = few.map((values) => ({
  kind: 'detected-field-values',
  values,
  limit: 3,
  warnings: values.slice(1),
}));
const labels: fc.Arbitrary<Answer> = few.map((values) => ({
  kind: 'detected-labels',
  labels: values.map((label) => ({ label, values })),
  warnings: [],
}));

/** Every operation that supports several tenants, with possible answers of one of them. */
const cases: readonly (readonly [request: ApiRequest, answers: fc.Arbitrary<Answer>])[] = [
  [{ op: 'query_range', query: logs, direction: 'forward', ...ranged }, streamsAnswers('forward')],
  [{ op: 'query_range', query: logs, direction: 'backward', ...ranged }, streamsAnswers('backward')],
  [{ op: 'query_range', query: counted, direction: 'backward', ...ranged }, matrixAnswers],
  [{ op: 'query', query: counted, timeNs: 4n, limit: 5, direction: 'backward' }, vectorAnswers],
  [{ op: 'labels', range, browse: {} }, namesAnswers],
  [{ op: 'label_values', name: 'a', range, browse: { limit: 2 } }, namesAnswers],
  [{ op: 'series', range, selectors: [] }, seriesAnswers],
  [{ op: 'index_stats', range, query: selector }, indexStatsAnswers],
  [{ op: 'volume', ...volume }, volumes],
  [{ op: 'volume_range', stepNs: 1_000_000n, ...volume }, volumes],
  [{ op: 'detected_labels', range }, labels],
  [{ op: 'detected_fields', ...scan }, fields],
  [{ op: 'detected_field_values', name: 'a', ...scan }, fieldValues],
  [
    {
      op: 'patterns',
      range,
      query: selector,
      stepNs: 1n,
      limit: 3,
      search: { maxRows: 1, secondPassMaxRows: 1, secondPassMaxWindows: 1, custom: [] },
    },
    patterns,
  ],
];

const ids: readonly string[] = ['t1', 't2', 't3', 't4'];
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The combined answer if the tenants answer in this order. */
async function answered(
  request: ApiRequest,
  answers: readonly Answer[],
  order: readonly number[],
): Promise<Answer> {
  const waiting = new Map<string, () => void>();
  const rest: Rest<'tenant'> = ({ slots: { tenant } }) =>
    new Promise((resolve) => {
      const answer = answers[ids.indexOf(tenant.id)];
      if (answer !== undefined) waiting.set(tenant.id, () => resolve(answer));
    });
  const [first, ...others] = ids.map((id) => makeTenant(id));
  if (first === undefined) throw new Error('no tenants');
  const limits = createLimits(limitsOptions({}));
  const state = { isDone: false };
  const whole = answerSeveral(makeExchange({ request }), rest, [first, ...others], limits).finally(() => {
    state.isDone = true;
  });
  // The query is read in steps before any tenant is asked.
  while (waiting.size === 0 && !state.isDone) await settle();
  for (const index of order) {
    await settle();
    waiting.get(ids[index] ?? '')?.();
  }
  return whole;
}

for (const [request, answers] of cases) {
  const direction = 'direction' in request ? ` ${request.direction}` : '';
  const kind = 'query' in request && request.query === counted ? ' of a metric' : '';
  test(`${request.op}${kind}${direction} does not depend on which tenant answers first`, async (t) => {
    const parts = fc.tuple(answers, answers, answers, answers);
    const order = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 });
    await fc.assert(
      fc.asyncProperty(parts, order, async (all, permuted) => {
        t.deepEqual(await answered(request, all, permuted), await answered(request, all, [0, 1, 2, 3]));
      }),
      { numRuns: 40, seed: 18 },
    );
  });
}
