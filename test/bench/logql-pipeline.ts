import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { LabelSet } from '../../core/base/label-set.js';
import { parseQuery } from '../../core/logql/index.js';
import { compilePipeline } from '../../core/logql/pipeline/output.js';
import { compileExtractor, pushedGrouping } from '../../core/logql/pipeline/extractor.js';
import type { PipelineEntry } from '../../core/logql/pipeline/types.js';

interface Case {
  readonly name: string;
  /** The required lines per second, if there is a floor. */
  readonly floor?: number;
  /** Its selector chooses the lines. */
  readonly query: string;
}

const cases: readonly Case[] = [
  { name: 'line filter', floor: 3_000_000, query: '{app="api-gateway"} |= "replied"' },
  { name: 'line filter, regexp', query: '{app="api-gateway"} |~ "user.*(bob|erin)"' },
  {
    name: 'json, two fields',
    floor: 400_000,
    query: 'sum by (method) (count_over_time({app="api-gateway"} | json | status >= 500 [1m]))',
  },
  {
    name: 'json, two params',
    query: '{app="api-gateway"} | json status, method | status >= 500',
  },
  { name: 'json, filter, all fields out', query: '{app="api-gateway"} | json | status >= 500' },
  { name: 'json, all fields out', query: '{app="api-gateway"} | json' },
  {
    name: 'logfmt, two fields',
    floor: 400_000,
    query: 'sum by (level) (count_over_time({service_name="checkout"} | logfmt | took > 500ms [1m]))',
  },
  { name: 'logfmt, all fields out', query: '{service_name="checkout"} | logfmt' },
  {
    name: 'line_format, three fields',
    floor: 200_000,
    query: '{service_name="checkout"} | logfmt | line_format "{{.level}} {{.msg}} {{.took}}"',
  },
  {
    name: 'line_format with functions',
    query:
      '{service_name="checkout"} | logfmt | line_format "{{.level | ToUpper}} {{ printf \\"%-20s\\" .msg }}"',
  },
  {
    name: 'pattern',
    query:
      '{service_name="nginx-ingress"} | pattern `<ip> <_> "<method> <path> <_>" <status> <size>` | status="404"',
  },
  {
    name: 'regexp',
    query:
      '{service_name="nginx-ingress"} | regexp `"(?P<method>\\w+) (?P<path>\\S+) [^"]+" (?P<status>\\d+)`',
  },
  {
    name: 'unwrap, sum',
    query: 'sum by (method) (sum_over_time({app="api-gateway"} | json | unwrap duration_ms [1m]))',
  },
];

/** Prints how many of the recorded lines the queries process per second of CPU time, next to the required floors. */
export function run(): void {
  const entries = readEntries();
  for (const one of cases) measure(one, entries);
}

const measureMs = 700;

function measure({ name, query, floor }: Case, entries: readonly PipelineEntry[]): void {
  const { run: runOne, selects } = compile(query);
  const chosen = entries.filter(({ stream }) => selects(stream));
  let kept = 0;
  const round = (): void => {
    for (const entry of chosen) if (runOne(entry) !== undefined) kept += 1;
  };
  for (let rounds = 0; rounds < 30; rounds += 1) round();
  kept = 0;
  let rounds = 0;
  // CPU time rather than wall time: it includes the garbage collector but no other load on the machine.
  const start = process.cpuUsage();
  let elapsed = 0;
  while (elapsed < measureMs) {
    round();
    rounds += 1;
    const { user, system } = process.cpuUsage(start);
    elapsed = (user + system) / 1000;
  }
  const perSecond = Math.round((chosen.length * rounds * 1000) / elapsed);
  const wanted = floor === undefined ? '' : ` (floor ${floor.toLocaleString('en')})`;
  const share = Math.round((100 * kept) / (chosen.length * rounds));
  process.stdout.write(
    `${name.padEnd(30)} ${perSecond.toLocaleString('en').padStart(11)} lines/s${wanted}; ${chosen.length} lines, ${share} % kept\n`,
  );
}

interface Compiled {
  readonly run: (entry: PipelineEntry) => unknown;
  readonly selects: (stream: LabelSet) => boolean;
}

function compile(text: string): Compiled {
  const expr = parseQuery(text);
  const [pushed, range] =
    expr.kind === 'vector-aggregation' ? [pushedGrouping(expr), expr.expr] : [undefined, expr];
  if (range.kind === 'range-aggregation') {
    const selects = selectorOf(range.range.query.selector.matchers);
    return { run: compileExtractor(range, pushed), selects };
  }
  if (range.kind !== 'log') throw new Error(`not for this bench: ${text}`);
  return { run: compilePipeline(range.stages), selects: selectorOf(range.selector.matchers) };
}

function selectorOf(
  matchers: readonly { readonly name: string; readonly value: string }[],
): (stream: LabelSet) => boolean {
  return (stream) => matchers.every(({ name, value }) => stream.get(name) === value);
}

interface Batch {
  readonly streams: readonly {
    readonly stream: Readonly<Record<string, string>>;
    readonly values: readonly (readonly [string, string, Readonly<Record<string, string>>?])[];
  }[];
}

function readEntries(): readonly PipelineEntry[] {
  const text = gunzipSync(readFileSync('test/data/conformance/dataset.jsonl.gz')).toString();
  const streams = new Map<string, LabelSet>();
  const entries: PipelineEntry[] = [];
  for (const batch of text.trimEnd().split('\n')) {
    // The file is part of the repository and has this form.
    for (const { stream, values } of (JSON.parse(batch) as Batch).streams) {
      const made = LabelSet.from(Object.entries(stream));
      const set = streams.get(made.key) ?? made;
      streams.set(set.key, set);
      for (const [ns, line, metadata = {}] of values) {
        const structuredMetadata = LabelSet.from(Object.entries(metadata));
        entries.push({ stream: set, structuredMetadata, timestampNs: BigInt(ns), line });
      }
    }
  }
  return entries;
}
