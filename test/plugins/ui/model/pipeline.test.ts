import test from 'ava';
import {
  columnValue,
  hasPlan,
  isCut,
  sortedQueries,
} from '../../../../plugins/ui/browser/model/asked-order.js';
import {
  mirrorState,
  outcomeShares,
  paramTexts,
  queryOf,
  shownDifferences,
} from '../../../../plugins/ui/browser/model/mirrored.js';
import { namesPlace, parsePlace, withPlace } from '../../../../plugins/ui/browser/model/pipeline-place.js';
import { passingText, routesOnWay, stagesOnWay } from '../../../../plugins/ui/browser/model/stage-way.js';
import type {
  AskedQueries,
  AskedQuery,
  MirroredDifference,
  OptionDescription,
  PartDescription,
} from '../../../../plugins/ui/browser/model/wire.js';

function optionOf(key: string, value: string | undefined): OptionDescription {
  return {
    ...{ key, value, isDefault: false, description: '', default: undefined, isSet: value !== undefined },
    ...{ isSecret: false, isNeutral: false, flag: undefined, unit: undefined },
  };
}

function part(name: string, more: Partial<PartDescription> = {}): PartDescription {
  return { id: name, name, summary: '', at: 'a.yaml:1:1', options: [], meters: [], ...more };
}

const backend = { calls: 7, errors: 1, ms: undefined };
const times = (p50: number) => ({ p50, p95: p50 * 2 });

test('a stage on the way has its share of hits, what goes on, and its part of the slowest time', (t) => {
  const figures = { calls: 100, errors: 5, answeredHere: 60, totalMs: undefined };
  const [cache, last] = stagesOnWay({
    backend,
    stages: [
      part('tier0', {
        figures: { ...figures, ownMs: times(1) },
        meters: [
          { name: 'ref_proxy_x_hits_total', help: '', value: 60 },
          { name: 'ref_proxy_x_misses_total', help: '', value: 40 },
        ],
      }),
      part('backend', { figures: { ...figures, ownMs: times(4) }, options: [optionOf('enabled', 'false')] }),
    ],
  });
  t.like(cache, { goesOn: 35, share: 0.25, isOn: true, cache: { hits: 60, asked: 100 } });
  t.is(cache?.backend, undefined);
  t.like(last, { share: 1, isOn: false, cache: undefined, backend });
  t.is(passingText(part('x')), '');
  t.regex(passingText(part('x', { passing: { needs: [], gives: [], rest: 'many' } })), /several times/);
});

test('requests arrive by the routes of clients, the most frequent first, without health checks and the page itself', (t) => {
  const route = (name: string, calls: number) => ({ route: name, calls, errors: 0, ms: undefined });
  t.deepEqual(
    routesOnWay([
      ...[route('ready', 900), route('ui_pipeline', 50), route('labels', 3), route('ui_query_range', 9)],
      ...[route('debug_queries', 8), route('site_teams', 3), route('tail', 0)],
    ]).map((one) => one.route),
    ['ui_query_range', 'labels', 'site_teams'],
  );
});

test('the place in the pipeline stands in the hash, beside what else it holds', (t) => {
  t.deepEqual(parsePlace('#view=pipeline&stage=guard'), { tab: 'stages', part: 'guard' });
  t.deepEqual(parsePlace('#view=pipeline&tab=queries'), { tab: 'queries', part: undefined });
  t.deepEqual(parsePlace('#tab=constructor&stage='), { tab: 'stages', part: undefined });
  t.is(
    withPlace('#view=pipeline&query=%7Ba%3D%22b%22%7D&tab=mirror', { tab: 'stages', part: 'a b' }),
    '#view=pipeline&query=%7Ba%3D%22b%22%7D&stage=a+b',
  );
  t.is(withPlace('#view=pipeline', { tab: 'queries', part: undefined }), '#view=pipeline&tab=queries');
  t.true(namesPlace('#stage=x'));
  t.false(namesPlace('#view=pipeline'));
});

function asked(query: string, more: Partial<AskedQuery> = {}): AskedQuery {
  return {
    ...{ fingerprint: query, query, endpoint: 'query_range', count: 1, total_ms: 1, max_ms: 1, errors: 0 },
    ...{ backend_calls: 0, backend_rows: 0, backend_bytes: 0, strategies: [], ...more },
  };
}

test('queries of all lists are listed once, in the order of a column, and those that failed alone by failures', (t) => {
  const often = asked('often', { count: 50, total_ms: 100 });
  const slow = asked('slow', { count: 2, total_ms: 80, max_ms: 70, errors: 1 });
  const lists: AskedQueries = {
    ...{ total_queries: 52, unique_queries: 2, total_ms: 180 },
    ...{ top_by_frequency: [often, slow], top_by_latency: [slow, often], top_by_errors: [slow] },
    ...{ top_by_bytes_read: [], top_by_total_time: [often] },
  };
  const names = (column: Parameters<typeof sortedQueries>[1], search = ''): readonly string[] =>
    sortedQueries(lists, column, search).map(({ query }) => query);
  t.deepEqual(names('longest'), ['slow', 'often']);
  t.deepEqual(names('total'), ['often', 'slow']);
  t.deepEqual(names('mean'), ['slow', 'often']);
  t.deepEqual(names('errors'), ['slow']);
  t.deepEqual(names('longest', ' OFT'), ['often']);
  t.is(columnValue('mean', slow), 40);
});

test('a plan is offered for whole queries of lines and metrics', (t) => {
  t.true(hasPlan(asked('{a="b"}')));
  t.false(hasPlan(asked('{a="b"}', { endpoint: 'series' })));
  const cut = asked(`${'x'.repeat(1024)}...`);
  t.true(isCut(cut.query));
  t.false(hasPlan(cut));
  t.false(isCut('a...'));
});

const difference: MirroredDifference = {
  ...{ atMs: 1, tenant: '', kind: 'value', reference: '1', candidate: '2' },
  request: { path: '/loki/api/v1/series', params: { 'match[]': ['{a="b"}', '{c="d"}'], start: '1' } },
};

test('a mirror is absent, off without an address or a share, or on', (t) => {
  const state = (...options: readonly OptionDescription[]) =>
    mirrorState({ stages: [part('tenancy'), part('mirror', { options })] });
  t.is(mirrorState({ stages: [part('tenancy')] }), 'absent');
  t.is(state(optionOf('url', undefined), optionOf('percent', '1')), 'off');
  t.is(state(optionOf('url', 'http://loki'), optionOf('percent', '0')), 'off');
  t.is(state(optionOf('url', 'http://loki'), optionOf('percent', '1')), 'on');
});

test('outcomes of a mirror have shares of what was sent', (t) => {
  const outcomes = { equal: 6, different: 2, failed: 0, skipped: 0, not_sent: 100 };
  t.deepEqual(
    outcomeShares({ outcomes, data: [] }).map(({ name, share }) => `${name} ${share}`),
    ['Equal 75 %', 'Different 25 %', 'Failed 0 %', 'Skipped 0 %', 'Not sent '],
  );
});

test('differences are shown from the newest, with their query and their other parameters', (t) => {
  const known = { ...difference, atMs: 2, known: 'volumes', request: { path: '/x', params: { query: '1' } } };
  const mirrored = {
    outcomes: { equal: 0, different: 2, failed: 0, skipped: 0, not_sent: 0 },
    data: [difference, known],
  };
  t.deepEqual(
    shownDifferences(mirrored, false).map(({ atMs }) => atMs),
    [2, 1],
  );
  t.deepEqual(shownDifferences(mirrored, true), [difference]);
  t.is(queryOf(known), '1');
  t.is(queryOf(difference), undefined);
  t.deepEqual(paramTexts(known), []);
  t.deepEqual(paramTexts(difference), ['match[]={a="b"}', 'match[]={c="d"}', 'start=1']);
});
