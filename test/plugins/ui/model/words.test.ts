import test from 'ava';
import fc from 'fast-check';
import {
  formatAge,
  formatBytes,
  formatMs,
  formatShort,
  fromLocalField,
  toLocalField,
  formatElapsed,
  formatMoment,
  formatTime,
  sentence,
} from '../../../../plugins/ui/browser/model/format.js';
import { zoneName } from '../../../../plugins/ui/browser/model/settings.js';
import {
  cacheFigures,
  isEnabled,
  shownValue,
  sortOptions,
  tenantNeed,
} from '../../../../plugins/ui/browser/model/options.js';
import { placeOf, planSentence } from '../../../../plugins/ui/browser/model/plan-words.js';
import { timeTicks, valueTicks } from '../../../../plugins/ui/browser/model/ticks.js';
import { layOutTree } from '../../../../plugins/ui/browser/model/tree-text.js';
import type { OptionDescription, PartDescription } from '../../../../plugins/ui/browser/model/wire.js';
import { makeHost } from '../../../../core/testing/index.js';
import { explainForPage } from '../../../../plugins/ui/explain.js';

test('numbers are as long as they need to be', (t) => {
  t.deepEqual([0, 0.5, 12, 999, 1234, 1_500_000, 2e9].map(formatShort), [
    '0',
    '0.5',
    '12',
    '999',
    '1.23k',
    '1.5M',
    '2G',
  ]);
  t.deepEqual([NaN, Infinity, -Infinity, 0.00012].map(formatShort), ['NaN', '+Inf', '-Inf', '1.2e-4']);
  t.deepEqual([0.001, 0.123, 3.44, 128.4, 12_345].map(formatMs), ['0', '0.12', '3.4', '128', '12,345']);
  t.deepEqual([12, 1_200, 3_400_000].map(formatBytes), ['12 B', '1.2 kB', '3.4 MB']);
  t.deepEqual([5_000, 125_000, 7_500_000, 90_000_000].map(formatAge), [
    '5 s',
    '2 min',
    '2 h 5 min',
    '1 d 1 h',
  ]);
});

test('the field of a moment gives the moment back, to the second', (t) => {
  const iso = '2026-11-21T06:45:07.000Z';
  t.is(fromLocalField(toLocalField(iso)), iso);
  t.is(fromLocalField(''), '');
  t.is(toLocalField('never'), '');
});

test('an axis holds all values between round ticks', (t) => {
  t.deepEqual(valueTicks(0, 68, 4), [0, 20, 40, 60, 80]);
  t.deepEqual(valueTicks(0, 0.47, 5), [0, 0.1, 0.2, 0.3, 0.4, 0.5]);
  const value = fc.double({ min: -1e9, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(value, value, (a, b) => {
      const [least, greatest] = [Math.min(a, b), Math.max(a, b)];
      const ticks = valueTicks(least, greatest, 5);
      const slack = (greatest - least) * 1e-6 + 1e-9;
      t.true(ticks.length >= 2 && ticks.length <= 9, `${ticks.length} ticks for ${least} to ${greatest}`);
      t.true((ticks[0] ?? Infinity) <= least + slack && (ticks.at(-1) ?? -Infinity) >= greatest - slack);
    }),
  );
});

test('ticks of time stand on round moments of local time', (t) => {
  const hour = 3_600_000;
  t.deepEqual(
    timeTicks({ startMs: 0.5 * hour, endMs: 6.5 * hour }, 6, () => 0).ticks,
    [1, 2, 3, 4, 5, 6].map((at) => at * hour),
  );
  // Half an hour ahead of UTC: whole local hours are half hours in UTC.
  t.deepEqual(timeTicks({ startMs: 0, endMs: 2 * hour }, 2, () => hour / 2).ticks, [0.5 * hour, 1.5 * hour]);
});

test('a tree that is too long for a line is laid out, and says the same', (t) => {
  const tree =
    '(sum by (level) (rate [5m0s] (log (selector app=~"a(b|c)") (line-filter |= ") (") (json json))))';
  t.is(
    layOutTree(tree, 40),
    [
      '(sum by',
      '  (level)',
      '  (rate [5m0s]',
      '    (log',
      '      (selector app=~"a(b|c)")',
      '      (line-filter |= ") (")',
      '      (json json))))',
    ].join('\n'),
  );
  t.is(layOutTree('(log (selector a="b"))'), '(log (selector a="b"))');
  t.is(layOutTree('2'), '2');
});

test('laying out any tree changes nothing but blanks between its words', async (t) => {
  for (const query of [
    '{a="b"} | json x="a[\\"(\\"]" | line_format `(((`',
    'sum(rate({a=~"\\\\("}[1m])) / (1 - vector(2))',
  ]) {
    const { tree } = await explainForPage(new Map([['query', [query]]]), makeHost(), undefined);
    t.is(layOutTree(tree, 10).replace(/\n */g, ' '), tree);
  }
});

test('the plan is told in two sentences', async (t) => {
  const sentence = async (query: string): Promise<string> =>
    planSentence(await explainForPage(new Map([['query', [query]]]), makeHost(), undefined));
  t.regex(await sentence('{a="b"} |= "c"'), /^VictoriaLogs does all of the search\. /);
  t.regex(
    await sentence('{a="b"} | json'),
    /^VictoriaLogs finds candidate lines; 1 of 2 parts of the query also need the proxy\. /,
  );
  t.regex(await sentence('1 + 1'), /^No logs are read\. /);
  t.deepEqual((['exact', 'superset', 'none'] as const).map(placeOf), ['backend', 'both', 'here']);
});

const option = (key: string, value: string | undefined, isDefault: boolean): OptionDescription => ({
  key,
  value,
  isDefault,
  description: '',
  default: undefined,
  isSet: value !== undefined,
  isSecret: false,
  isNeutral: false,
  flag: undefined,
  unit: undefined,
});
const stage = (
  name: string,
  options: readonly OptionDescription[],
  meters: PartDescription['meters'] = [],
): PartDescription => ({
  id: name,
  name,
  summary: '',
  at: '',
  options,
  meters,
});

test('options that differ stand apart, and a secret shows no value', (t) => {
  const { changed, others } = sortOptions([option('a', '1', true), option('b', '2', false)]);
  t.deepEqual([changed.map(({ key }) => key), others.map(({ key }) => key)], [['b'], ['a']]);
  t.is(shownValue({ ...option('token', 'hidden-word', false), isSecret: true }), 'set, not shown');
  t.is(shownValue({ ...option('token', undefined, true), isSecret: true }), 'not set');
  t.is(shownValue(option('a', '', false)), '(empty)');
});

test('a stage is off when its option says so', (t) => {
  t.false(isEnabled(stage('tier0', [option('enabled', 'false', false)])));
  t.true(isEnabled(stage('tier0', [option('enabled', 'true', true)])));
  t.true(isEnabled(stage('guard', [])));
});

test('a tenant is asked for where tenancy refuses those without', (t) => {
  const loaded = (stages: readonly PartDescription[]): Parameters<typeof tenantNeed>[0] => ({
    file: '',
    startedMs: 0,
    nowMs: 0,
    notReady: [],
    backend: { calls: 0, errors: 0, ms: undefined },
    routes: [],
    endpoints: [],
    services: [],
    sections: [],
    stages,
  });
  t.is(tenantNeed(loaded([])), 'none');
  t.is(tenantNeed(loaded([stage('tenancy', [option('authEnabled', 'false', true)])])), 'optional');
  t.is(tenantNeed(loaded([stage('tenancy', [option('authEnabled', 'true', false)])])), 'required');
});

test('a cache is known by what it counts', (t) => {
  const meter = (name: string, value: number): PartDescription['meters'][number] => ({
    name,
    value,
    help: '',
  });
  t.deepEqual(cacheFigures(stage('tier0', [], [meter('x_hits_total', 3), meter('x_misses_total', 5)])), {
    hits: 3,
    asked: 8,
  });
  t.is(cacheFigures(stage('guard', [], [meter('refused_total', 3)])), undefined);
});

test('times are those of the zone that is chosen', (t) => {
  const ms = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
  t.is(formatMoment(ms, 'utc'), '2026-01-02 03:04:05');
  t.is(formatTime(ms, 'utc'), '03:04:05.006');
  t.is(fromLocalField(toLocalField('2026-01-02T03:04:05.000Z', 'utc'), 'utc'), '2026-01-02T03:04:05.000Z');
  t.is(zoneName('utc', ms), 'UTC');
  const minutes = -new Date(ms).getTimezoneOffset();
  t.regex(zoneName('browser', ms), minutes === 0 ? /^UTC$/ : /^UTC[+−]\d\d:\d\d$/);
});

test('a sentence has one full stop', (t) => {
  t.deepEqual(['Asks', 'Asks.', 'Asks!', ''].map(sentence), ['Asks.', 'Asks.', 'Asks!', '']);
  t.deepEqual([400, 12_300, 65_000].map(formatElapsed), ['0.4 s', '12 s', '1:05 min']);
});
