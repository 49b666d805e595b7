import test from 'ava';
import { encodeAnswer } from '../../../../core/wire/answer/encode.js';
import type { AnswerStats } from '../../../../core/wire/answer/types.js';
import {
  parseInstantQuery,
  parseQueryRange,
  type ParamContext,
} from '../../../../core/wire/api/params/index.js';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { LogqlError, type Expr } from '../../../../core/logql/index.js';
import {
  defaultMetricLimits,
  entryLeafSource,
  evaluateMetric,
  gridOf,
  type Grid,
} from '../../../../core/logql/metric/index.js';
import type { Answered } from '../../../../core/comparison/answers.js';
import { readCases, type Case } from '../../../conformance/cases.js';
import { compareAnswers } from '../../../conformance/compare.js';
import { spreadSample } from '../../../setup/runs.js';
import { readDataset, sourceOf } from './dataset.js';
import { noWorkers } from '../lines-here.js';

const context: ParamContext = {
  nowNs: 1_793_512_800_000_000_000n,
  dottedNames: 'reject',
  hasBrowseExtensions: false,
  defaultLimit: 100,
  metadataLookbackNs: 0n,
};
const noStats: AnswerStats = {
  linesProcessed: 0,
  bytesProcessed: 0,
  entriesReturned: 0,
  postFilterLines: 0,
  structuredMetadataBytes: 0,
  execTimeMs: 0,
  splits: 0,
};

const sizes: Readonly<Record<string, number>> = {
  'range-agg': 63,
  step: 11,
  offset: 4,
  unwrap: 29,
  'vector-agg': 39,
  binary: 35,
  instant: 29,
};
const cases = readCases('http');
const source = entryLeafSource(sourceOf(readDataset('t1')), noWorkers);

for (const [family, size] of Object.entries(sizes)) {
  test(`the family ${family} gets the recorded samples`, async (t) => {
    const ofFamily = cases.filter(({ request }) => request.family === family);
    t.is(ofFamily.length, size);
    for (const { request, golden } of spreadSample(ofFamily, 2)) {
      t.is(request.headers['X-Scope-OrgID'], 't1');
      t.is(compareAnswers(request, golden, await answer(request)), undefined, request.id);
    }
  });
}

test('metric queries that fail while they run, or find nothing, say what is recorded', async (t) => {
  const ids = new Set(['016', '036', '037', '039'].map((number) => `error-query-${number}`));
  const chosen = cases.filter(({ request }) => ids.has(request.id));
  t.is(chosen.length, 4);
  for (const { request, golden } of chosen) {
    t.is(compareAnswers(request, golden, await answer(request)), undefined, request.id);
  }
});

async function answer(request: Case): Promise<Answered> {
  try {
    const { ast, grid } = read(request);
    if (ast.kind === 'log') return { status: 400, body: logQueryText };
    const signal = new AbortController().signal;
    const result = await evaluateMetric(ast, grid, source, defaultMetricLimits, signal);
    const { body } = encodeAnswer({ ...result, stats: noStats }, { categorizeLabels: false });
    return { status: 200, body: JSON.parse(body.toString()) as unknown };
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, body: error.message };
    if (error instanceof LogqlError) return { status: 400, body: error.message };
    throw error;
  }
}

// The error of the endpoint before it evaluates anything.
const logQueryText =
  'log queries are not supported as an instant query type, please change your query to a range query type';

function read({ path, params }: Case): { readonly ast: Expr; readonly grid: Grid } {
  const byName = new Map(Object.entries(params).map(([name, value]) => [name, [value].flat()]));
  if (path.endsWith('/query')) {
    const { query, timeNs } = parseInstantQuery(byName, context);
    return { ast: query.ast, grid: { kind: 'instant', timeNs } };
  }
  const { query, range, stepNs } = parseQueryRange(byName, context);
  return { ast: query.ast, grid: gridOf(range, stepNs) };
}
