/**
 * Converts V8's profiles to the format of pprof (https://github.com/google/pprof/blob/main/proto/profile.proto), gzipped as its readers
 * expect.
 */
import type { HeapProfiler, Profiler, Runtime } from 'node:inspector';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Function, Line, Location, Mapping, Profile, Sample, StringTable, ValueType } from 'pprof-format';

const compress = promisify(gzip);

/** V8's default sampling interval. */
const cpuPeriodNs = 1_000_000;
const heapPeriodBytes = 32_768;

/** Frames added by V8: the root of the tree, and idle time. */
const notShown: ReadonlySet<string> = new Set(['(root)', '(idle)']);

type Quantity = readonly [type: string, unit: string];

/** A profile of samples and processor time. */
export function pprofOfCpu(profile: Profiler.Profile): Promise<Buffer> {
  const { nodes, samples = [], timeDeltas = [], startTime, endTime } = profile;
  const parents = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const spent = new Map<number, { count: number; micros: number }>();
  for (const [at, id] of samples.entries()) {
    const found = spent.get(id) ?? { count: 0, micros: 0 };
    found.count += 1;
    // A sample lasts until the next one; clocks of several processors may step back.
    found.micros += Math.max(0, timeDeltas[at + 1] ?? 0);
    spent.set(id, found);
  }
  const writer = new Writer(
    [
      ['samples', 'count'],
      ['cpu', 'nanoseconds'],
    ],
    ['cpu', 'nanoseconds'],
    cpuPeriodNs,
  );
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  for (const [id, { count, micros }] of spent) {
    const stack: Runtime.CallFrame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = frames.get(at);
      if (frame !== undefined) stack.push(frame);
    }
    writer.add(stack, [count, micros * 1_000]);
  }
  return writer.done((endTime - startTime) * 1_000);
}

/** A profile of bytes by the place of allocation; `type` says which allocations the samples are. */
export function pprofOfHeap(
  { head }: HeapProfiler.SamplingHeapProfile,
  type: 'inuse_space' | 'alloc_space',
  ms: number,
): Promise<Buffer> {
  const writer = new Writer([[type, 'bytes']], ['space', 'bytes'], heapPeriodBytes);
  const waiting: [HeapProfiler.SamplingHeapProfileNode, readonly Runtime.CallFrame[]][] = [[head, []]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [{ callFrame, selfSize, children }, callers] = next;
    const stack = [callFrame, ...callers];
    if (selfSize > 0) writer.add(stack, [selfSize]);
    for (const child of children) waiting.push([child, stack]);
  }
  return writer.done(ms * 1_000_000);
}

class Writer {
  readonly #strings = new StringTable();
  readonly #functions: Function[] = [];
  readonly #locations: Location[] = [];
  readonly #samples: Sample[] = [];
  readonly #known = new Map<string, number>();
  readonly #sampleType: ValueType[];
  readonly #periodType: ValueType;
  readonly #period: number;

  constructor(sampleTypes: readonly Quantity[], periodType: Quantity, period: number) {
    this.#sampleType = sampleTypes.map((each) => this.#quantity(each));
    this.#periodType = this.#quantity(periodType);
    this.#period = period;
  }

  /** Adds a stack, from the innermost frame to the outermost. */
  add(stack: readonly Runtime.CallFrame[], value: number[]): void {
    if (stack[0]?.functionName === '(idle)') return;
    const shown = stack.filter(({ functionName }) => !notShown.has(functionName));
    const locationId = shown.map((frame) => this.#location(frame));
    if (locationId.length > 0) this.#samples.push(new Sample({ locationId, value }));
  }

  done(durationNanos: number): Promise<Buffer> {
    // Without these, readers would look for the names of functions elsewhere.
    const mapping = new Mapping({
      id: 1,
      filename: this.#strings.dedup('ref-proxy'),
      hasFunctions: true,
      hasFilenames: true,
      hasLineNumbers: true,
    });
    const profile = new Profile({
      sampleType: this.#sampleType,
      sample: this.#samples,
      mapping: [mapping],
      location: this.#locations,
      function: this.#functions,
      stringTable: this.#strings,
      timeNanos: BigInt(Date.now()) * 1_000_000n,
      durationNanos: Math.round(durationNanos),
      periodType: this.#periodType,
      period: this.#period,
    });
    return compress(profile.encode());
  }

  #quantity([type, unit]: Quantity): ValueType {
    return new ValueType({ type: this.#strings.dedup(type), unit: this.#strings.dedup(unit) });
  }

  /** The location of a frame. V8 only knows where a function starts, not the line of the call in it. */
  #location({ functionName, url, scriptId, lineNumber, columnNumber }: Runtime.CallFrame): number {
    const key = `${scriptId}:${lineNumber}:${columnNumber}:${functionName}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const id = this.#functions.length + 1;
    const line = lineNumber + 1;
    // Readers merge frames with the same name.
    const place = `${url.slice(url.lastIndexOf('/') + 1)}:${line}:${columnNumber + 1}`;
    const name = this.#strings.dedup(functionName === '' ? `(anonymous) ${place}` : functionName);
    const filename = this.#strings.dedup(url.replace(/^file:\/\//, ''));
    this.#functions.push(new Function({ id, name, systemName: name, filename, startLine: line }));
    this.#locations.push(new Location({ id, mappingId: 1, line: [new Line({ functionId: id, line })] }));
    this.#known.set(key, id);
    return id;
  }
}
