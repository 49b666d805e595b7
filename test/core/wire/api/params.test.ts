import test from 'ava';
import fc from 'fast-check';
import {
  checkEntriesLimit,
  parseFormatQuery,
  parseIndexStats,
  parseInstantQuery,
  parseLabels,
  parseLabelValues,
  parseQueryRange,
  parseSeries,
  type ParamContext,
  type Params,
} from '../../../../core/wire/api/params/index.js';
import { ApiError } from '../../../../core/base/errors/api-error.js';

const second = 1_000_000_000n;
const now = 1_793_500_000n * second;
const context: ParamContext = {
  nowNs: now,
  dottedNames: 'reject',
  hasBrowseExtensions: false,
  defaultLimit: 100,
  metadataLookbackNs: 43_200n * second,
};

type Given = Readonly<Record<string, string | readonly string[]>>;
function params(given: Given): Params {
  return new Map(
    Object.entries(given).map(([name, value]) => [name, typeof value === 'string' ? [value] : value]),
  );
}

const refusals: readonly (readonly [given: Given, text: string])[] = [
  [{ start: 'abc' }, `could not parse 'start' parameter: strconv.ParseInt: parsing "abc": invalid syntax`],
  [{ end: 'abc' }, `could not parse 'end' parameter: strconv.ParseInt: parsing "abc": invalid syntax`],
  [{ since: 'abc' }, `could not parse 'since' parameter: not a valid duration string: "abc"`],
  [
    { start: 'x', end: 'y', since: 'z' },
    `could not parse 'since' parameter: not a valid duration string: "z"`,
  ],
  [
    { start: '1793494800', end: '1.7e18' },
    `could not parse 'end' parameter: strconv.ParseInt: parsing "1.7e18": value out of range`,
  ],
  [{ start: '1793502000', end: '1793494800' }, 'end timestamp must not be before or equal to start time'],
  [{ start: '2', end: '1', limit: 'abc' }, 'end timestamp must not be before or equal to start time'],
  [{ limit: 'abc' }, 'strconv.Atoi: parsing "abc": invalid syntax'],
  [{ limit: '99999999999999999999' }, 'strconv.Atoi: parsing "99999999999999999999": value out of range'],
  [{ limit: '0' }, 'limit must be a positive value'],
  [{ limit: '-5', direction: 'sideways' }, 'limit must be a positive value'],
  [{ limit: '99999999999' }, 'limit value 99999999999 is out of range [0, 4294967295]'],
  [{ direction: 'sideways', step: 'abc' }, "invalid direction 'sideways'"],
  [{ step: 'abc' }, 'cannot parse "abc" to a valid duration'],
  [{ step: '0.5m' }, 'cannot parse "0.5m" to a valid duration'],
  [{ step: '1e300' }, 'cannot parse "1e300" to a valid duration. It overflows int64'],
  [{ step: 'Inf' }, 'cannot parse "Inf" to a valid duration. It overflows int64'],
  [{ step: 'NaN' }, 'zero or negative query resolution step widths are not accepted. Try a positive integer'],
  [{ interval: 'NaN' }, 'interval must be >= 0'],
  [{ end: '1e9' }, `could not parse 'end' parameter: strconv.ParseInt: parsing "1e9": invalid syntax`],
  [{ step: '0' }, 'zero or negative query resolution step widths are not accepted. Try a positive integer'],
  [{ step: '-1' }, 'zero or negative query resolution step widths are not accepted. Try a positive integer'],
  [
    { start: '1793491200', end: '1793512800', step: '1', interval: 'abc' },
    'exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter',
  ],
  [{ interval: 'abc' }, 'cannot parse "abc" to a valid duration'],
  [{ interval: '-1' }, 'interval must be >= 0'],
];
for (const [given, text] of refusals) {
  test(`query_range and index/stats refuse ${JSON.stringify(given)}`, (t) => {
    for (const parse of [parseQueryRange, parseIndexStats]) {
      const error = t.throws(() => parse(params({ query: '{a="b"}', ...given }), context), {
        instanceOf: ApiError,
      });
      t.is(error.message, text);
      t.is(error.status, 400);
    }
  });
}

test('query_range fills in Loki’s defaults: an hour back from now, 100 entries, newest first, a 250th as step', (t) => {
  const request = parseQueryRange(params({ query: '{a="b"}' }), context);
  t.deepEqual(request.range, { startNs: now - 3_600n * second, endNs: now });
  t.is(request.limit, 100);
  t.is(request.direction, 'backward');
  t.is(request.stepNs, 14n * second);
  t.is(request.intervalNs, 0n);
  t.is(request.query.text, '{a="b"}');
});

test('since counts back from now when end lies in the future', (t) => {
  const { range } = parseQueryRange(params({ end: String(now + 600n * second), since: '30m' }), context);
  t.is(range.startNs, now - 1_800n * second);
  t.is(range.endNs, now + 600n * second);
});

test('the default step is never below a second and a range of 11000 steps is the last that passes', (t) => {
  t.is(parseQueryRange(params({ start: '1793494800', end: '1793494810' }), context).stepNs, second);
  t.notThrows(() => parseQueryRange(params({ start: '1793489000', end: '1793500000', step: '1' }), context));
  t.notThrows(() =>
    parseQueryRange(params({ start: '1793489000', end: '1793500000.999', step: '1' }), context),
  );
});

test('step and interval take float seconds and Prometheus durations', (t) => {
  const request = parseQueryRange(params({ step: '90.5', interval: '5m' }), context);
  t.is(request.stepNs, 90_500_000_000n);
  t.is(request.intervalNs, 300n * second);
});

test('start equal to end passes, and the case of direction does not matter', (t) => {
  const given = { start: '1793494800', end: '1793494800', direction: 'FORWARD' };
  t.is(parseQueryRange(params(given), context).direction, 'forward');
});

test('an instant query names no parameter when its time cannot be read', (t) => {
  const error = t.throws(() => parseInstantQuery(params({ time: 'abc' }), context));
  t.is(error.message, 'strconv.ParseInt: parsing "abc": invalid syntax');
  t.is(parseInstantQuery(params({}), context).timeNs, now);
});

test('listings without any time reach back by the metadata lookback, with since by that, with start by neither', (t) => {
  t.is(parseLabels(params({}), context).range.startNs, now - 43_200n * second);
  t.is(parseLabels(params({ since: '5m' }), context).range.startNs, now - 300n * second);
  t.is(parseLabels(params({ end: String(now) }), context).range.startNs, now - 3_600n * second);
  t.is(parseLabels(params({}), { ...context, metadataLookbackNs: 0n }).range.startNs, 0n);
});

test('a reversed range has its own text on labels, label values and series', (t) => {
  const reversed = params({ start: '1793498400', end: '1793494800' });
  const text = 'this data is no longer available, it is past now - max_query_lookback (0s)';
  t.is(t.throws(() => parseLabels(reversed, context)).message, text);
  t.is(t.throws(() => parseLabelValues('app', reversed, context)).message, text);
  t.is(t.throws(() => parseSeries(reversed, context)).message, text);
});

test('with the index a browse of label values has a limit, the hot one without another, and 10000 at most', (t) => {
  const limitOf = (given: Given, change: Partial<ParamContext> = {}): number | undefined =>
    parseLabelValues('app', params(given), {
      ...context,
      hasBrowseExtensions: true,
      hotLimit: 200,
      ...change,
    }).browse.limit;
  t.is(limitOf({}), 200);
  t.is(limitOf({ limit: '7' }), 7);
  t.is(limitOf({ limit: '20000' }), 10_000);
  t.is(limitOf({}, { hotLimit: 20_000 }), 10_000);
  t.is(limitOf({ limit: '7' }, { hasBrowseExtensions: false }), 200);
  t.is(limitOf({ query: '{a="b"}' }), undefined);
  t.is(limitOf({ query: '{a="b"}', limit: '20000' }), 20_000);
  t.is(limitOf({ limit: '20000' }, { hotLimit: undefined }), 20_000);
});

test('label listings take an empty query and * as browsing', (t) => {
  t.is(parseLabelValues('app', params({ query: '*' }), context).query, undefined);
  t.is(parseLabels(params({ query: '' }), context).query, undefined);
  t.is(parseLabels(params({ query: '{a="b"}' }), context).query?.text, '{a="b"}');
});

test('browse parameters count only where the extensions are on', (t) => {
  const given = params({ limit: '2', offset: '4', q: 'err' });
  t.deepEqual(parseLabels(given, context).browse, {});
  const browsing = { ...context, hasBrowseExtensions: true };
  t.deepEqual(parseLabels(given, browsing).browse, { limit: 2, offset: 4, search: 'err' });
  t.is(
    t.throws(() => parseLabels(params({ limit: 'x' }), browsing)).message,
    'strconv.Atoi: parsing "x": invalid syntax',
  );
});

test('series merges match and match[], each text once', (t) => {
  const given = params({
    match: ['{a="1"}', '{a="2"}'],
    'match[]': ['{a="2"}', '{a="3"}'],
    query: '{x="y"}',
  });
  const texts = parseSeries(given, context).selectors.map((selector) => selector.text);
  t.deepEqual(texts, ['{a="1"}', '{a="2"}', '{a="3"}']);
});

test('series without matcher and with a single {} mean all streams', (t) => {
  t.deepEqual(parseSeries(params({}), context).selectors, []);
  t.deepEqual(parseSeries(params({ 'match[]': ' { } ' }), context).selectors, []);
  t.is(parseSeries(params({ match: ['{}', '{a="1"}'] }), context).selectors.length, 2);
});

test('format_query takes only its query', (t) => {
  t.is(parseFormatQuery(params({ query: 'x', start: 'abc' }), context).query.text, 'x');
});

test('the cap on entries holds unless it is zero', (t) => {
  const error = t.throws(() => checkEntriesLimit({ limit: 5001 }, 5000), { instanceOf: ApiError });
  t.is(
    error.message,
    'max entries limit per query exceeded, limit > max_entries_limit_per_query (5001 > 5000)',
  );
  t.notThrows(() => checkEntriesLimit({ limit: 5000 }, 5000));
  t.notThrows(() => checkEntriesLimit({ limit: 5001 }, 0));
});

test('whatever a client sends, parameters are read or refused with a 400, never anything else', (t) => {
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '',
      '0',
      '-1',
      '1e18',
      'NaN',
      '1793494800',
      '1793494800000000000',
      '5m',
      '2026-11-01T00:00:00Z',
      '9'.repeat(400),
    ),
  );
  const names = [
    'start',
    'end',
    'since',
    'limit',
    'direction',
    'step',
    'interval',
    'time',
    'match',
    'match[]',
    '__proto__',
  ];
  const given = fc.array(fc.tuple(fc.constantFrom(...names), fc.array(value, { maxLength: 3 })), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(given, (entries) => {
      const read = new Map(entries);
      for (const parse of [parseQueryRange, parseInstantQuery, parseLabels, parseSeries, parseIndexStats]) {
        try {
          const request = parse(read, context);
          if (request.op === 'query_range')
            t.true((request.range.endNs - request.range.startNs) / request.stepNs <= 11_000n);
        } catch (error) {
          t.true(error instanceof ApiError && error.status === 400, String(error));
        }
      }
    }),
  );
});
