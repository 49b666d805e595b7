import { readFileSync } from 'node:fs';
import test from 'ava';
import { evaluateEntry } from '../../../../core/logql/evaluate-entry.js';
import { LabelSet } from '../../../../core/base/label-set.js';
import { goldenPath, type Golden } from './golden.js';

const goldens = readFileSync(goldenPath, 'utf8')
  .trimEnd()
  .split('\n')
  // The file is part of this repository, and every line has this form.
  .map((line) => JSON.parse(line) as Golden);

test('there are as many recorded lines as there should be', (t) => {
  t.is(goldens.length, 798);
});

for (const family of new Set(goldens.map((golden) => golden.family))) {
  test(`queries of the family ${family} make of a line what Loki makes of it`, (t) => {
    for (const golden of goldens.filter((one) => one.family === family)) {
      t.deepEqual(evaluate(golden), expected(golden), `${golden.id}: ${golden.query}`);
    }
  });
}

function evaluate({ query, stream, structured_metadata, ts, line }: Golden): unknown {
  const result = evaluateEntry(query, {
    stream: LabelSet.from(Object.entries(stream)),
    structuredMetadata: LabelSet.from(Object.entries(structured_metadata)),
    timestampNs: BigInt(ts),
    line,
  });
  return {
    kept: result.kept,
    line: result.line,
    labels: objectOf(result.labels),
    groups: {
      stream: objectOf(result.groups.stream),
      structured_metadata: objectOf(result.groups.structuredMetadata),
      parsed: objectOf(result.groups.parsed),
    },
    sample: result.sample === undefined ? undefined : goNumber(result.sample),
  };
}

function expected({ kept, out_line, out_labels, out_groups, metric_sample }: Golden): unknown {
  return {
    kept,
    line: out_line,
    labels: out_labels,
    groups: out_groups,
    sample:
      metric_sample === undefined ? undefined : goNumber(Number(metric_sample.replace('Inf', 'Infinity'))),
  };
}

function objectOf(set: LabelSet): Record<string, string> {
  return Object.fromEntries(set.labels);
}

function goNumber(value: number): string {
  return String(value);
}
