import { join, dirname, resolve } from 'node:path';
import { parseDuration, problemsOf, type ValueProblem } from '../../kernel/options/index.js';
import { placeOf, textOf, toPlain, valueOf, type LocatedNode } from '../../kernel/pipeline/located.js';
import { readYaml } from '../../kernel/pipeline/read-yaml.js';
import type { SourceFile } from '../../kernel/pipeline/source.js';
import type { Finding, SourcePosition } from '../../kernel/pipeline/index.js';
import { testFileSchema } from './file-schema.js';
import type { PipelineRequest, PipelineRun } from './run-pipeline.js';
import type { ScriptedAnswer } from './script.js';
import type { StoredLine } from './stored-lines.js';

interface TestStep {
  /** Time that passes before the test, in milliseconds. */
  readonly afterMs: number;
  readonly request: PipelineRequest;
  readonly at: SourcePosition;
  /** The mapping `expect`. */
  readonly expected: LocatedNode;
}

export interface TestCase {
  readonly name: string;
  readonly at: SourcePosition;
  readonly run: PipelineRun;
  readonly steps: readonly TestStep[];
  /** Positions of the backend's answers, in order. */
  readonly backendAt: readonly SourcePosition[];
}

export interface TestFile {
  /** Path of the pipeline in reports. */
  readonly pipeline: string;
  readonly tests: readonly TestCase[];
}

/** The contents of a test file, or its errors. */
type ReadTests = { readonly file: TestFile } | { readonly findings: readonly Finding[] };

export function readTests(source: SourceFile): ReadTests {
  // Tests do not depend on this machine, so its variables have no value here.
  const { root, problems } = readYaml(source, {});
  const found = problems.map(({ at, message, fix }) => fault(at, message, fix));
  if (root === undefined || found.length > 0) return { findings: found };
  const misshapen = problemsOf(testFileSchema, toPlain(root)).map((problem) => shapeFault(root, problem));
  if (misshapen.length > 0) return { findings: misshapen };
  const reader = new Reader(source, root);
  const file = reader.file();
  return reader.faults.length > 0 ? { findings: reader.faults } : { file };
}

/** A fault of a test as a finding, reported like those of the checker. */
export function fault(at: SourcePosition, message: string, fix?: string): Finding {
  return { at, rule: 'test', severity: 'error', message, ...(fix === undefined ? {} : { fix }) };
}

function shapeFault(root: LocatedNode, { kind, path, message, fix }: ValueProblem): Finding {
  const place = placeOf(root, path);
  const last = path.at(-1);
  const subject =
    last === undefined ? 'a file of tests' : typeof last === 'number' ? `item ${last + 1}` : `"${last}"`;
  return fault(kind === 'unknown' ? (place.key ?? place.value) : place.value, `${subject} ${message}`, fix);
}

/** Reads a document that the schema has accepted. */
class Reader {
  readonly faults: Finding[] = [];
  readonly #source: SourceFile;
  readonly #lines: readonly string[];
  readonly #root: LocatedNode;

  constructor(source: SourceFile, root: LocatedNode) {
    this.#source = source;
    this.#lines = source.text.split('\n');
    this.#root = root;
  }

  file(): TestFile {
    const path = textOf(valueOf(this.#root, 'pipeline')) ?? '';
    const isRelative = resolve(path) !== path;
    const tests = itemsOf(valueOf(this.#root, 'tests'));
    if (tests.length === 0) this.#fault(this.#root, 'the file has no tests');
    return {
      pipeline: isRelative ? join(dirname(this.#source.name), path) : path,
      tests: this.#unique(tests.map((node) => this.#test(node))),
    };
  }

  #unique(tests: readonly TestCase[]): readonly TestCase[] {
    const first = new Map<string, TestCase>();
    for (const test of tests) {
      const before = first.get(test.name);
      if (before === undefined) first.set(test.name, test);
      else this.faults.push(fault(test.at, `a test with this name is also on line ${before.at.line}`));
    }
    return tests;
  }

  #test(node: LocatedNode): TestCase {
    const steps = valueOf(node, 'steps');
    const single = ['request', 'expect'].filter((key) => valueOf(node, key) !== undefined);
    if (steps === undefined ? single.length < 2 : single.length > 0)
      this.#fault(node, 'a test has "request" and "expect", or "steps"');
    const name = valueOf(node, 'name');
    return {
      name: textOf(name) ?? '',
      at: name?.at ?? node.at,
      run: this.#run(node),
      steps: (steps === undefined ? [node] : itemsOf(steps)).map((step) => this.#step(step)),
      backendAt: itemsOf(this.#answers(node)).map((answer) => answer.at),
    };
  }

  /** The answers of the test, or those of the file for tests without a backend of their own. */
  #answers(test: LocatedNode): LocatedNode | undefined {
    return (
      valueOf(test, 'backend') ??
      (valueOf(test, 'lines') === undefined ? valueOf(this.#root, 'backend') : undefined)
    );
  }

  #run(test: LocatedNode): PipelineRun {
    const nearest = (key: string): LocatedNode | undefined => valueOf(test, key) ?? valueOf(this.#root, key);
    const now = textOf(nearest('now'));
    const nowMs = now === undefined ? defaultNowMs : Date.parse(now);
    const tenant = textOf(nearest('tenant'));
    const answers = this.#answers(test);
    const lines =
      valueOf(test, 'lines') ??
      (valueOf(test, 'backend') === undefined ? valueOf(this.#root, 'lines') : undefined);
    return {
      flags: { ...this.#texts(valueOf(this.#root, 'flags')), ...this.#texts(valueOf(test, 'flags')) },
      env: { ...this.#texts(valueOf(this.#root, 'env')), ...this.#texts(valueOf(test, 'env')) },
      nowMs,
      ...(tenant === undefined ? {} : { tenant }),
      ...(answers === undefined ? {} : { backend: itemsOf(answers).map((node) => this.#answer(node)) }),
      ...(lines === undefined ? {} : { lines: itemsOf(lines).map((node) => this.#line(node, nowMs)) }),
    };
  }

  #step(node: LocatedNode): TestStep {
    const request = valueOf(node, 'request');
    const expected = valueOf(node, 'expect');
    if (expected?.kind === 'map' && expected.entries.length === 0)
      this.#fault(expected, 'nothing is expected');
    return {
      afterMs: parseDuration(textOf(valueOf(node, 'after')) ?? '0') ?? 0,
      request: request === undefined ? { path: '/' } : this.#request(request),
      at: request?.at ?? node.at,
      expected: expected ?? node,
    };
  }

  #request(node: LocatedNode): PipelineRequest {
    const method = textOf(valueOf(node, 'method'));
    const body = textOf(valueOf(node, 'body'));
    return {
      path: textOf(valueOf(node, 'path')) ?? '/',
      params: this.#params(valueOf(node, 'params')),
      headers: this.#texts(valueOf(node, 'headers')),
      listener: textOf(valueOf(node, 'listener')) === 'admin' ? 'admin' : 'main',
      ...(method === undefined ? {} : { method }),
      ...(body === undefined ? {} : { body }),
      ...(valueOf(node, 'form') === undefined ? {} : { form: this.#params(valueOf(node, 'form')) }),
    };
  }

  #answer(node: LocatedNode): ScriptedAnswer {
    const rows = valueOf(node, 'rows');
    const json = valueOf(node, 'json');
    const kinds = ['rows', 'values', 'json', 'body'].filter((key) => valueOf(node, key) !== undefined);
    if (kinds.length > 1) this.#fault(node, `an answer is one of ${kinds.join(', ')}`);
    // The schema has accepted the types of the members.
    const { times, status, values, body } = toPlain(node) as Pick<
      ScriptedAnswer,
      'times' | 'status' | 'values' | 'body'
    >;
    return {
      path: textOf(valueOf(node, 'path')) ?? '',
      args: this.#texts(valueOf(node, 'args')),
      headers: this.#texts(valueOf(node, 'headers')),
      ...(times === undefined ? {} : { times }),
      ...(status === undefined ? {} : { status }),
      ...(values === undefined ? {} : { values }),
      ...(body === undefined ? {} : { body }),
      ...(rows === undefined ? {} : { rows: itemsOf(rows).map((row) => this.#texts(row)) }),
      ...(json === undefined ? {} : { json: toPlain(json) }),
    };
  }

  #line(node: LocatedNode, nowMs: number): StoredLine {
    const time = textOf(valueOf(node, 'time')) ?? '-1s';
    const { accountId = 0, projectId = 0 } = toPlain(node) as Pick<StoredLine, 'accountId' | 'projectId'>;
    return {
      timeNs: timeNs(time, nowMs),
      labels: this.#texts(valueOf(node, 'labels')),
      line: textOf(valueOf(node, 'line')) ?? '',
      fields: this.#texts(valueOf(node, 'fields')),
      accountId,
      projectId,
    };
  }

  #params(node: LocatedNode | undefined): Record<string, string | readonly string[]> {
    return this.#members(node, (value) =>
      value.kind === 'list' ? value.items.map((item) => this.#text(item)) : this.#text(value),
    );
  }

  #texts(node: LocatedNode | undefined): Record<string, string> {
    return this.#members(node, (value) => this.#text(value));
  }

  #members<Value>(node: LocatedNode | undefined, read: (node: LocatedNode) => Value): Record<string, Value> {
    const members = Object.create(null) as Record<string, Value>; // Object.create is typed any
    for (const { key, value } of node?.kind === 'map' ? node.entries : []) members[key] = read(value);
    return members;
  }

  /** A scalar as written, which preserves all digits of long numbers. */
  #text(node: LocatedNode): string {
    if (node.kind !== 'scalar') return '';
    if (typeof node.value === 'string') return node.value;
    const { line, column, length } = node.at;
    const written = (this.#lines[line - 1] ?? '').slice(column - 1, column - 1 + length);
    return Number(written) === node.value ? written : String(node.value);
  }

  #fault(node: LocatedNode, message: string): void {
    this.faults.push(fault(node.at, message));
  }
}

const defaultNowMs = Date.parse('2026-11-01T12:00:00Z');

function itemsOf(node: LocatedNode | undefined): readonly LocatedNode[] {
  return node?.kind === 'list' ? node.items : [];
}

/** The nanoseconds of a time, or of a duration before now. */
function timeNs(text: string, nowMs: number): bigint {
  const before = text.startsWith('-') ? parseDuration(text.slice(1)) : undefined;
  if (before !== undefined) return BigInt(nowMs) * 1_000_000n - BigInt(Math.round(before * 1e6));
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  const wholeMs = Date.parse(text.replace(/\.\d+/, ''));
  return BigInt(wholeMs) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9));
}
