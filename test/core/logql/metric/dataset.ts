import { LabelSet } from '../../../../core/base/label-set.js';
import type { Matcher, Selector } from '../../../../core/logql/index.js';
import type { EntrySource } from '../../../../core/logql/metric/index.js';
import type { PipelineEntry } from '../../../../core/logql/pipeline/types.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { RowReader } from '../../../../core/victoria/names/row-reader.js';
import { compileRegExp } from '../../../../core/logql/regexp/index.js';
import { readLines } from '../../../conformance/cases.js';

type Stream = readonly PipelineEntry[];

interface Pushed {
  readonly tenant: string;
  readonly streams: readonly {
    readonly stream: Readonly<Record<string, string>>;
    readonly values: readonly (readonly [string, string, Readonly<Record<string, string>>?])[];
  }[];
}

/** The entries of one tenant of the corpus as Loki stores them: with the labels that Loki adds, and without duplicates. */
export function readDataset(tenant: string): readonly Stream[] {
  const reader = new RowReader(new Naming(namesOptions()));
  const streams = new Map<string, Map<string, PipelineEntry>>();
  for (const line of readLines('test/data/conformance/dataset.jsonl.gz')) {
    // The corpus is part of this repository; its README describes the format.
    const batch = JSON.parse(line) as Pushed;
    if (batch.tenant !== tenant) continue;
    for (const { stream, values } of batch.streams) {
      const text = `{${Object.entries(stream)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}}`;
      let entries = streams.get(text);
      if (entries === undefined) streams.set(text, (entries = new Map<string, PipelineEntry>()));
      for (const [ns, msg, metadata] of values) {
        const time = new Date(Number(BigInt(ns) / 1_000_000n)).toISOString().slice(0, 19);
        const fraction = (BigInt(ns) % 1_000_000_000n).toString().padStart(9, '0');
        const row = reader.read({
          ...metadata,
          ...stream,
          _time: `${time}.${fraction}Z`,
          _stream: text,
          _msg: msg,
        });
        entries.set(`${ns} ${msg}`, {
          stream: row.stream.labels,
          structuredMetadata: row.structuredMetadata,
          timestampNs: row.timestampNs,
          line: row.line,
        });
      }
    }
  }
  return [...streams.values()].map((entries) => [...entries.values()]);
}

/** Yields the entries of the streams that a leaf selects, in batches of a hundred. */
export function sourceOf(streams: readonly Stream[]): EntrySource {
  return {
    async *entries(leaf) {
      for (const entries of streams) {
        if (!selects(leaf.range.range.query.selector, entries[0]?.stream ?? LabelSet.empty)) continue;
        for (let at = 0; at < entries.length; at += 100) {
          yield await Promise.resolve(entries.slice(at, at + 100));
        }
      }
    },
  };
}

function selects({ matchers }: Selector, labels: LabelSet): boolean {
  return matchers.every((matcher) => matches(matcher, labels.get(matcher.name)));
}

function matches({ op, value }: Matcher, text: string): boolean {
  switch (op) {
    case '=':
      return text === value;
    case '!=':
      return text !== value;
    case '=~':
      return compileRegExp(value, { anchored: true, dotAll: true }).test(text);
    case '!~':
      return !compileRegExp(value, { anchored: true, dotAll: true }).test(text);
  }
}
