import test from 'ava';
import { encodeAnswer } from '../../../../core/wire/answer/encode.js';
import type { Answer, VolumeAnswer } from '../../../../core/wire/answer/types.js';
import { spreadShards } from '../../../../core/wire/answer/merge/spread-shards.js';
import { LabelSet } from '../../../../core/base/label-set.js';

function textOf(answer: Answer): string {
  return encodeAnswer(answer, { categorizeLabels: false }).body.toString('utf8');
}

const stats = {
  linesProcessed: 0,
  bytesProcessed: 0,
  entriesReturned: 0,
  postFilterLines: 0,
  structuredMetadataBytes: 0,
  execTimeMs: 0,
  splits: 1,
};
const warnings: readonly string[] = [];

function volume(...counts: readonly number[]): VolumeAnswer {
  const series = counts.map((count, index) => ({
    labels: LabelSet.from([['app', `a${index}`]]),
    points: Array.from({ length: count }, (_point, time) => ({
      timestampMs: time * 1000 + 999,
      value: 1024,
    })),
  }));
  return { kind: 'volume', series, stats, warnings };
}

test('a volume is a vector as long as no series has two samples', (t) => {
  t.regex(
    textOf(volume(1, 1)),
    /^\{"status":"success","data":\{"resultType":"vector","result":\[\{"metric":\{"app":"a0"\},"value":\[0\.999,"1024"\]\},/,
  );
  t.regex(
    textOf(volume(1, 2)),
    /"resultType":"matrix","result":\[\{"metric":\{"app":"a0"\},"values":\[\[0\.999,"1024"\]\]\}/,
  );
  t.regex(textOf(volume()), /"resultType":"vector","result":\[\],"stats":\{/);
});

test('fields say null where no parser finds them, and leave out a path they do not have', (t) => {
  const fields = [
    { label: 'trace_id', type: 'string', parsers: [], jsonPath: undefined, values: ['a', 'b'] },
    { label: 'user_id', type: 'int', parsers: ['json'], jsonPath: ['user', 'id'], values: ['7'] },
  ] as const;
  t.is(
    textOf({ kind: 'detected-fields', fields, limit: 1000, warnings }),
    '{"fields":[{"label":"trace_id","type":"string","cardinality":2,"parsers":null},' +
      '{"label":"user_id","type":"int","cardinality":1,"parsers":["json"],"jsonPath":["user","id"]}],"limit":1000}',
  );
});

test('nothing detected is an empty object', (t) => {
  t.is(textOf({ kind: 'detected-fields', fields: [], limit: 1, warnings }), '{}');
  t.is(textOf({ kind: 'detected-field-values', values: [], limit: 1, warnings }), '{}');
  t.is(textOf({ kind: 'detected-labels', labels: [], warnings }), '{}');
});

test('values and labels have the keys of Loki', (t) => {
  t.is(
    textOf({ kind: 'detected-field-values', values: ['201', '200'], limit: 1000, warnings }),
    '{"limit":1000,"values":["201","200"]}',
  );
  t.is(
    textOf({ kind: 'detected-labels', labels: [{ label: 'app', values: ['a', 'b'] }], warnings }),
    '{"detectedLabels":[{"label":"app","cardinality":2}]}',
  );
});

test('patterns escape what HTML would read, and leave out a level they do not have', (t) => {
  const patterns = [
    { pattern: 'a <_> & "b"', level: 'info', samples: [[1795215600, 2]] },
    { pattern: 'own', level: undefined, samples: [] },
  ] as const;
  t.is(
    textOf({ kind: 'patterns', patterns, warnings }),
    '{"status":"success","data":[{"pattern":"a \\u003c_\\u003e \\u0026 \\"b\\"","level":"info","samples":[[1795215600,2]]},' +
      '{"pattern":"own","samples":[]}]}',
  );
  t.is(textOf({ kind: 'patterns', patterns: [], warnings }), '{"status":"success","data":[]}');
});

test('bounds of shards keep all of their 64 bits', (t) => {
  const shards = spreadShards({ streams: 2, chunks: 2, bytes: 10, entries: 4 }, 2);
  const text = textOf({ kind: 'shards', shards, warnings });
  t.true(
    text.includes(
      '{"bounds":{"min":0,"max":9223372036854775807},"stats":{"streams":1,"chunks":1,"bytes":5,"entries":2}}',
    ),
  );
  t.true(text.includes('{"min":9223372036854775808,"max":18446744073709551615}'));
});
