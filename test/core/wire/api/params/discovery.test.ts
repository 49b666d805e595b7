import test from 'ava';
import type { PatternSearch } from '../../../../../core/wire/api/request.js';
import {
  parseDetectedFields,
  parseDetectedFieldValues,
  parseDetectedLabels,
  parseIndexShards,
  parsePatterns,
  parseVolume,
  parseVolumeRange,
  type ParamContext,
  type Params,
} from '../../../../../core/wire/api/params/index.js';
import { ApiError } from '../../../../../core/base/errors/api-error.js';

const second = 1_000_000_000n;
const now = 1_793_500_000n * second;
const context: ParamContext = {
  nowNs: now,
  dottedNames: 'reject',
  hasBrowseExtensions: false,
  defaultLimit: 1000,
  metadataLookbackNs: 43_200n * second,
};
const search: PatternSearch = { maxRows: 500, secondPassMaxRows: 50, secondPassMaxWindows: 2, custom: [] };

function params(given: Readonly<Record<string, string>>): Params {
  return new Map(Object.entries(given).map(([name, value]) => [name, [value]]));
}

const parsers = {
  volume: parseVolume,
  volume_range: parseVolumeRange,
  index_shards: parseIndexShards,
  detected_labels: parseDetectedLabels,
  detected_fields: parseDetectedFields,
  patterns: (given: Params, house: ParamContext) => parsePatterns(given, house, search),
};

type Parser = keyof typeof parsers;
const reversed = { start: '1793502000', end: '1793494800' };
const refusals: readonly (readonly [
  parser: Parser,
  given: Readonly<Record<string, string>>,
  text: string,
])[] = [
  ['volume', { direction: 'up' }, "invalid direction 'up'"],
  ['volume', { time: 'abc' }, 'strconv.ParseInt: parsing "abc": invalid syntax'],
  ['volume_range', { direction: 'up' }, "invalid direction 'up'"],
  ['volume_range', { interval: '-1' }, 'interval must be >= 0'],
  ['detected_labels', reversed, 'end timestamp must not be before or equal to start time'],
  ['volume', { aggregateBy: 'nope' }, 'invalid aggregation option'],
  ['volume', { limit: '-1' }, 'limit must be a positive value'],
  ['volume', { limit: 'x' }, 'strconv.Atoi: parsing "x": invalid syntax'],
  ['volume', reversed, 'end timestamp must not be before or equal to start time'],
  [
    'volume_range',
    { start: 'x' },
    `could not parse 'start' parameter: strconv.ParseInt: parsing "x": invalid syntax`,
  ],
  [
    'volume_range',
    { step: '0' },
    'zero or negative query resolution step widths are not accepted. Try a positive integer',
  ],
  [
    'volume_range',
    { step: '0.1' },
    'exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter',
  ],
  ['index_shards', {}, 'targetBytesPerShard must be a positive value'],
  ['index_shards', { targetBytesPerShard: '0' }, 'targetBytesPerShard must be a positive value'],
  ['index_shards', { targetBytesPerShard: 'many' }, 'targetBytesPerShard must be a positive value'],
  ['index_shards', { targetBytesPerShard: '1', limit: '0' }, 'limit must be a positive value'],
  ['detected_fields', { line_limit: '0' }, 'limit must be a positive value'],
  ['detected_fields', { limit: 'x' }, 'strconv.Atoi: parsing "x": invalid syntax'],
  ['detected_fields', { field_limit: '-3' }, 'limit must be a positive value'],
  ['detected_fields', reversed, 'end timestamp must not be before or equal to start time'],
  ['detected_labels', { since: 'x' }, `could not parse 'since' parameter: not a valid duration string: "x"`],
  ['patterns', { step: 'x' }, 'cannot parse "x" to a valid duration'],
];
for (const [parser, given, text] of refusals) {
  test(`${parser} refuses ${JSON.stringify(given)} in Loki's words`, (t) => {
    const error = t.throws(() => parsers[parser](params(given), context), { instanceOf: ApiError });
    t.is(error.message, text);
    t.is(error.status, 400);
  });
}

test('a volume defaults to the hundred biggest label sets of the last hour', (t) => {
  const { query, ...rest } = parseVolume(params({ query: '{}' }), context);
  t.is(query.text, '{}');
  t.deepEqual(rest, {
    op: 'volume',
    range: { startNs: now - 3600n * second, endNs: now },
    limit: 100,
    targetLabels: [],
    aggregateBy: 'series',
  });
});

test('a volume reads its targets as a list, and takes a limit of zero for none', (t) => {
  const { targetLabels, aggregateBy, limit } = parseVolume(
    params({ query: '{}', targetLabels: 'env,,namespace', aggregateBy: 'labels', limit: '0' }),
    context,
  );
  t.deepEqual(targetLabels, ['env', 'namespace']);
  t.is(aggregateBy, 'labels');
  t.is(limit, 100);
});

test('the step of a volume defaults to a 250th of the range', (t) => {
  t.is(parseVolumeRange(params({ query: '{}', since: '1h' }), context).stepNs, 14n * second);
});

test('sizes of shards are read in units of 1024', (t) => {
  const sizeOf = (text: string): number =>
    parseIndexShards(params({ query: '{a="b"}', targetBytesPerShard: text }), context).targetBytesPerShard;
  t.deepEqual(['7', '2KB', '600MB', '1 g'].map(sizeOf), [7, 2048, 600 * 1024 ** 2, 1024 ** 3]);
});

test('detected labels need no query', (t) => {
  t.false('query' in parseDetectedLabels(params({}), context));
  t.is(parseDetectedLabels(params({ query: '{a="b"}' }), context).query?.text, '{a="b"}');
});

test('fields are looked for in a hundred lines and a thousand are answered, unless the client says otherwise', (t) => {
  const { lineLimit, limit } = parseDetectedFields(params({ query: '{a="b"}' }), context);
  t.deepEqual([lineLimit, limit], [100, 1000]);
  const given = params({ query: '{a="b"}', line_limit: '20', field_limit: '7' });
  t.is(parseDetectedFields(given, context).lineLimit, 20);
  t.is(parseDetectedFields(given, context).limit, 7);
  t.is(
    parseDetectedFieldValues('x', params({ query: '{a="b"}', limit: '3', field_limit: '7' }), context).limit,
    3,
  );
});

test('patterns are counted by at least ten seconds, and by whole ones', (t) => {
  const stepOf = (step: string): bigint => parsePatterns(params({ step }), context, search).stepNs;
  t.deepEqual(['1', '15.7', '5m'].map(stepOf), [10n * second, 15n * second, 300n * second]);
});

test('a reversed range of patterns is no error', (t) => {
  t.notThrows(() => parsePatterns(params(reversed), context, search));
});

test('limits of patterns are bounded, and those that make no sense are not read', (t) => {
  const of = (given: Readonly<Record<string, string>>): readonly number[] => {
    const request = parsePatterns(params(given), context, search);
    return [request.limit, request.search.maxRows];
  };
  t.deepEqual(of({}), [1000, 500]);
  t.deepEqual(of({ limit: '5', line_limit: '20' }), [5, 20]);
  t.deepEqual(of({ limit: '5000', line_limit: '99999999999999999999' }), [1000, 500]);
  t.deepEqual(of({ limit: 'x', line_limit: '-1' }), [1000, 500]);
});

test('from and to stand in for start and end', (t) => {
  const { range } = parsePatterns(
    params({ from: '1793494800', to: '1793502000', start: '' }),
    context,
    search,
  );
  t.deepEqual(range, { startNs: 1_793_494_800n * second, endNs: 1_793_502_000n * second });
});
