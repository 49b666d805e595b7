import test from 'ava';
import { Selector, type VolumeRangeRequest, type VolumeRequest } from '../../../../core/wire/api/request.js';
import type { Answer } from '../../../../core/wire/answer/types.js';
import type { TimeRange } from '../../../../core/base/time/range.js';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import type { ExpectedCall, WrittenRow } from '../../../../core/testing/index.js';
import type { BackendValue, ListingRequest, RowsRequest } from '../../../../core/victoria/upstream/types.js';
import { printQuery } from '../../../../core/victoria/logsql/print.js';
import { runDiscovery } from '../discovery-run.js';

const start = 1_793_491_200_000_000_000n;
const hour = 3_600_000_000_000n;
const kib = 1024;

function volume(change: Partial<VolumeRequest> = {}): VolumeRequest {
  return {
    op: 'volume',
    range: { startNs: start, endNs: start + 6n * hour },
    query: new Selector('{app=~".+"}', 'reject'),
    limit: 100,
    targetLabels: [],
    aggregateBy: 'series',
    ...change,
  };
}

function piece(stream: string, entries: number, bytes: number, more: WrittenRow = {}): WrittenRow {
  const times = { first: '2026-11-01T00:00:00Z', last: '2026-11-01T05:59:59Z' };
  return { _stream: stream, entries: String(entries), lines: String(bytes), ...times, ...more };
}

/** The backend calls for a volume whose rows have these metadata fields. */
function calls(
  pieces: readonly WrittenRow[],
  metadata: {
    readonly fields?: readonly string[];
    readonly rows?: readonly WrittenRow[];
    /** Rows without a line, and the text stored instead of it. */
    readonly placeholders?: readonly WrittenRow[];
    /** The fields of these rows. */
    readonly members?: readonly WrittenRow[];
  } = {},
): readonly ExpectedCall[] {
  const fields = ['_time', '_msg', '_stream', '_stream_id', ...(metadata.fields ?? [])];
  const streams = new Map<string, number>();
  for (const { _stream = '', entries } of pieces)
    streams.set(_stream, (streams.get(_stream) ?? 0) + Number(entries));
  return [
    { call: 'list', when: isOfAll('streams'), values: valuesOf(streams) },
    { call: 'rows', batches: [pieces] },
    {
      call: 'list',
      when: isOfAll('field_names'),
      values: fields.map((field) => ({ value: field, hits: 1 })),
    },
    { call: 'rows', when: comparesTimes, batches: [timesOf(streams), missingOf(metadata.placeholders)] },
    { call: 'list', values: metadata.members === undefined ? [] : valuesOf(streams) },
    ...(metadata.members === undefined ? [] : [{ call: 'rows' as const, batches: [metadata.members] }]),
    ...(metadata.fields === undefined ? [] : [{ call: 'rows' as const, batches: [metadata.rows ?? []] }]),
    ...(metadata.placeholders === undefined
      ? []
      : [{ call: 'rows' as const, batches: [metadata.placeholders] }]),
  ];
}

/** Statistics for streams in which no two rows share a time. */
function timesOf(streams: ReadonlyMap<string, number>): readonly WrittenRow[] {
  return [...streams].map(([_stream, hits]) => ({ _stream, rows: String(hits), different: String(hits) }));
}

function missingOf(placeholders: readonly WrittenRow[] = []): readonly WrittenRow[] {
  return placeholders.map(({ entries = '' }) => ({ missing: entries }));
}

function valuesOf(streams: ReadonlyMap<string, number>): readonly BackendValue[] {
  return [...streams].map(([value, hits]) => ({ value, hits }));
}

function isOfAll(wanted: string): (request: ListingRequest) => boolean {
  return ({ listing, query: asked }) => listing === wanted && !printQuery(asked).includes('_msg');
}

function comparesTimes({ query: asked }: RowsRequest): boolean {
  return printQuery(asked).includes('count_uniq_hash');
}

function sizesOf(answer: Answer): unknown {
  return (
    answer.kind === 'volume' && answer.series.map(({ labels, points }) => [labels.json, points[0]?.value])
  );
}

test('bytes are those of lines and eight for the level of every entry, in KiB', async (t) => {
  const { answer } = await runDiscovery(volume(), calls([piece('{app="a"}', 1000, 100 * kib)]));
  t.deepEqual(sizesOf(answer), [['{"app":"a"}', 108 * kib]]);
});

test('structured metadata counts eight bytes a pair, and once each distinct value', async (t) => {
  const { answer, queries } = await runDiscovery(
    volume(),
    calls([piece('{app="a"}', 1000, 100 * kib)], {
      fields: ['trace_id', 'app'],
      rows: [
        {
          _stream: '{app="a"}',
          rows: '1000',
          n0: '1000',
          b0: '32000',
          u0: '500',
        },
      ],
    }),
  );
  // 8 for the level, 8 for the pair, 500 values of 32 bytes.
  t.deepEqual(sizesOf(answer), [['{"app":"a"}', Math.round((100 * kib + 16_000 + 8 + 16_000) / kib) * kib]]);
  t.false(queries.join().includes('count("app")'), 'the label of every stream is no metadata');
});

test('the placeholder of missing lines is not counted, neither is what the backend filled in', async (t) => {
  const placeholders = [piece('{app="a"}', 100, 90 * kib)];
  const { answer, queries } = await runDiscovery(
    volume(),
    calls([piece('{app="a"}', 1000, 100 * kib), piece('{app="b"}', 1000, 100 * kib)], {
      ...{ fields: ['severity_number', 'scope.name'], placeholders },
    }),
  );
  t.deepEqual(sizesOf(answer), [
    ['{"app":"b"}', 108 * kib],
    ['{"app":"a"}', 18 * kib],
  ]);
  const isAsked = (pattern: RegExp): boolean => queries.some((text) => pattern.test(text));
  t.true(isAsked(/count\("?severity_number"?\) if \(.*"0".*\) as "?n0"?/));
  t.true(isAsked(/count\("?scope\.name"?\) if \(.*unknown.*\)/));
  t.true(isAsked(/"?_msg"?:="missing _msg field.*sum_len\("?_msg"?\)/));
});

test('a line that is made of fields counts as a line, and its fields are no metadata', async (t) => {
  const members = [{ _stream: '{app="a"}', rows: '100', n0: '100', b0: '5000', n1: '50', b1: '500' }];
  const { answer, queries } = await runDiscovery(
    volume(),
    calls([piece('{app="a"}', 300, 100 * kib)], {
      fields: ['trace_id', 'm'],
      placeholders: [piece('{app="a"}', 100, 9 * kib)],
      members,
      rows: [{ _stream: '{app="a"}', rows: '200', n0: '200', b0: '2000', u0: '1' }],
    }),
  );
  // Two braces, and six characters for each pair of a name and a value, except for the last comma.
  const lines = 100 + 100 * (8 + 6) + 5000 + 50 * (1 + 6) + 500;
  const metadata = 200 * 8 + 8 + 10;
  t.deepEqual(sizesOf(answer), [
    ['{"app":"a"}', Math.round((91 * kib + lines + metadata + 300 * 8 + 26) / kib) * kib],
  ]);
  t.true(queries.some((text) => /!\(.*missing _msg field.*count_uniq/s.test(text)));
});

test('backend streams that are one stream to a client are added up before they are rounded', async (t) => {
  const pieces = [
    piece('{"host.name"="x",app="a"}', 10, 600),
    piece('{"host.name"="y",app="a"}', 10, 600),
    piece('{app="b"}', 10, 600),
  ];
  const { answer } = await runDiscovery(volume(), calls(pieces));
  t.deepEqual(sizesOf(answer), [
    ['{"app":"a"}', 2 * kib],
    ['{"app":"b"}', kib],
  ]);
});

/** The time range and the sample in which metadata is searched, if the six hours before `endNs` have two million entries. */
async function sampled(endNs: bigint): Promise<{ readonly range: TimeRange; readonly sample: string }> {
  const asked: TimeRange[] = [];
  const streams = { call: 'list', values: [{ value: '{app="a"}', hits: 2_000_000 }] } as const;
  const request = volume({ range: { startNs: endNs - 6n * hour, endNs } });
  const { queries } = await runDiscovery(request, [
    ...[streams, { call: 'rows', batches: [[piece('{app="a"}', 2_000_000, 1)]] } as const],
    {
      call: 'list',
      when: ({ range }) => asked.push(range) > 0,
      values: [{ value: 'pod', hits: 10 }],
    },
    ...[streams, { call: 'list', values: [] } as const],
    ...[{ call: 'rows', batches: [[]] } as const, { call: 'rows', batches: [[]] } as const],
  ]);
  const [range = request.range] = asked;
  return { range, sample: queries.find((text) => text.includes('"pod"')) ?? '' };
}

test('with many entries metadata is judged by some of the newest of them', async (t) => {
  const endNs = start + 6n * hour;
  const { range, sample } = await sampled(endNs);
  t.false(sample.includes('_msg'), 'lines are read once, with the pieces');
  const most = (6n * hour * 60_000n) / 2_000_000n;
  const lengthNs = range.endNs - range.startNs;
  t.true(lengthNs > most / 2n && lengthNs <= most);
  t.true(range.endNs > endNs - most && range.endNs <= endNs);
  const later = await Promise.all([1n, 2n, 3n].map((more) => sampled(endNs + (more * most) / 40n)));
  t.true(
    later.some((other) => other.range.endNs === range.endNs),
    'they are the same a little later',
  );
});

test('with very many entries only a sample of lines is read, and all are counted', async (t) => {
  const stream = { _stream: '{app="a"}' };
  const sample = { ...stream, rows: '1000', lines: '50000' };
  const value = '10000000';
  const listed = { value: stream._stream, hits: Number(value) };
  const { answer, queries } = await runDiscovery(volume(), [
    { call: 'list', values: [listed] },
    // Starts before the number is known.
    { call: 'rows', when: ({ query: asked }) => printQuery(asked).includes('sum_len'), batches: [] },
    {
      call: 'rows',
      batches: [
        [
          { ...stream, entries: value },
          { _stream: '{app="b"}', entries: '1000000' },
        ],
      ],
    },
    { call: 'list', values: [] },
    { call: 'list', values: [] },
    { call: 'list', values: [] },
    { call: 'rows', batches: [[sample]] },
  ]);
  t.is(
    queries.filter((text) => text.includes('sum_len("_msg") as "lines",') || text.includes('min(')).length,
    1,
  );
  // 50 bytes of line and 8 of level for each entry; a stream without a sample is assumed to be like the others.
  t.deepEqual(sizesOf(answer), [
    ['{"app":"a"}', Math.round((58e6 * 10 + 26) / kib) * kib],
    ['{"app":"b"}', Math.round((58e6 + 26) / kib) * kib],
  ]);
});

test('no entries need no question about metadata', async (t) => {
  const { answer } = await runDiscovery(volume(), [
    { call: 'list', values: [] },
    { call: 'rows', batches: [[]] },
  ]);
  t.deepEqual(sizesOf(answer), []);
});

test('a range is counted by cells of two hours, and answered by buckets of the step', async (t) => {
  const request: VolumeRangeRequest = { ...volume(), op: 'volume_range', stepNs: hour };
  const cells = [
    piece('{app="a"}', 1000, 40 * kib - 8000, { last: '2026-11-01T02:00:00Z' }),
    piece('{app="a"}', 1000, 20 * kib - 8000, {
      first: '2026-11-01T02:00:00Z',
      last: '2026-11-01T04:00:00Z',
    }),
  ];
  const { answer, queries } = await runDiscovery(request, calls(cells));
  t.true(queries.some((text) => text.includes('_time:7200000000000ns')));
  t.deepEqual(
    answer.kind === 'volume' &&
      answer.series.map(({ points }) => points.map(({ timestampMs, value }) => [timestampMs, value / kib])),
    [
      [
        [1_793_494_799_999, 20],
        [1_793_498_399_999, 20],
        [1_793_501_999_999, 10],
        [1_793_505_599_999, 10],
      ],
    ],
  );
});

test('more label sets than the tenant may see are refused in the words of Loki', async (t) => {
  const pieces = [piece('{app="a"}', 1, 1), piece('{app="b"}', 1, 1)];
  const limits = { tenantDefaultLimits: { volume_max_series: 1 } };
  const error = await t.throwsAsync(runDiscovery(volume(), calls(pieces), { limits }), {
    instanceOf: ApiError,
  });
  t.is(error.message, 'the query hit the max number of series limit (limit: 1 series)');
  t.is(error.status, 400);
});

test('a field that was declared a label can be a target, and is grouped by in the backend', async (t) => {
  const request = volume({ targetLabels: ['team_owner'] });
  const { answer, queries } = await runDiscovery(
    request,
    calls([
      piece('{app="a"}', 1000, 10 * kib - 8000, { 'team.owner': 'web' }),
      piece('{app="b"}', 1000, 20 * kib - 8000, { 'team.owner': 'web' }),
      piece('{app="b"}', 1000, 20 * kib - 8000),
    ]),
    { names: { extraLabelFields: ['team.owner'] } },
  );
  t.true(queries.some((text) => text.includes('team.owner')));
  t.deepEqual(sizesOf(answer), [['{"team_owner":"web"}', 30 * kib]]);
});
