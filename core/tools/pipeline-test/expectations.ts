import {
  textOf,
  toPlain,
  valueOf,
  type LocatedEntry,
  type LocatedNode,
} from '../../kernel/pipeline/located.js';
import type { Finding } from '../../kernel/pipeline/index.js';
import { differences, matchesExpected, lookUp, meant, show } from './compare.js';
import { showCall, type BackendCall } from './fake-victorialogs.js';
import { fault } from './read-file.js';
import type { PipelineAnswer } from './run-pipeline.js';

/** All differences between an answer and the mapping `expect` of a test. */
export function unmet(expected: LocatedNode, answer: PipelineAnswer): readonly Finding[] {
  const entries = expected.kind === 'map' ? expected.entries : [];
  return entries.flatMap((entry) => judges.get(entry.key)?.(entry, answer) ?? []);
}

type Judge = (entry: LocatedEntry, answer: PipelineAnswer) => readonly Finding[];

/** Checks by key of `expect`. */
const judges: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ['status', statusFaults],
  ['headers', ({ value }, { headers }) => headerFaults(value, headers)],
  ['answer', answerFaults],
  ['answerAt', ({ value }, answer) => partFaults(value, answer)],
  ['body', ({ value }, { body }) => differences(value, body, 'body')],
  ['bodyContains', containsFaults],
  ['stages', ({ value }, { stages }) => stageFaults(value, stages)],
  ['calls', ({ value }, { calls }) => callFaults(value, calls, true)],
  ['someCalls', ({ value }, { calls }) => callFaults(value, calls, false)],
  ['log', ({ value }, { log }) => logFaults(value, log)],
]);

function statusFaults({ value }: LocatedEntry, { status, body }: PipelineAnswer): readonly Finding[] {
  const found = differences(value, status, 'status');
  return found.map((each) =>
    status < 400 ? each : { ...each, message: `${each.message}: ${shortened(body)}` },
  );
}

function headerFaults(expected: LocatedNode, headers: ReadonlyMap<string, string>): readonly Finding[] {
  const entries = expected.kind === 'map' ? expected.entries : [];
  return entries.flatMap(({ key, keyAt, value }) => {
    const actual = headers.get(key.toLowerCase());
    const wanted = value.kind === 'scalar' ? value.value : null;
    if (wanted === null)
      return actual === undefined ? [] : [fault(keyAt, `header ${key} is there: ${show(actual)}`)];
    if (actual === undefined)
      return [fault(keyAt, `header ${key} is not there`, meant(key, [...headers.keys()]))];
    return actual === String(wanted)
      ? []
      : [fault(value.at, `header ${key}: expected ${show(wanted)}, got ${show(actual)}`)];
  });
}

function answerFaults({ keyAt, value }: LocatedEntry, { json, body }: PipelineAnswer): readonly Finding[] {
  return json === undefined ? [noJson(keyAt, body)] : differences(value, json, '');
}

function partFaults(expected: LocatedNode, { json, body }: PipelineAnswer): readonly Finding[] {
  const entries = expected.kind === 'map' ? expected.entries : [];
  return entries.flatMap(({ key, keyAt, value }) => {
    if (json === undefined) return [noJson(keyAt, body)];
    const found = lookUp(key, json);
    return 'problem' in found
      ? [fault(keyAt, found.problem, found.fix)]
      : differences(value, found.value, key);
  });
}

function noJson(at: Finding['at'], body: string): Finding {
  return fault(at, `the answer is not JSON: ${shortened(body)}`);
}

function containsFaults({ value }: LocatedEntry, { body }: PipelineAnswer): readonly Finding[] {
  const wanted = textOf(value) ?? '';
  return body.includes(wanted)
    ? []
    : [fault(value.at, `the answer does not contain ${show(wanted)}: ${shortened(body)}`)];
}

function stageFaults(expected: LocatedNode, stages: readonly string[]): readonly Finding[] {
  const wanted = toPlain(expected) as readonly string[]; // of the schema
  const first = wanted.findIndex((id, index) => id !== stages[index]);
  const index = first === -1 && stages.length > wanted.length ? wanted.length : first;
  if (index === -1) return [];
  const item = expected.kind === 'list' ? expected.items[index] : undefined;
  const passed = stages[index];
  const message =
    passed === undefined
      ? `the request ended before "${wanted[index] ?? ''}"; it passed ${stages.join(', ')}`
      : wanted[index] === undefined
        ? `the request also passed ${stages.slice(index).join(', ')}`
        : `the request passed "${passed}" here, not "${wanted[index] ?? ''}": ${stages.join(', ')}`;
  return [fault(item?.at ?? expected.at, message)];
}

/** Each expected call takes the first one that matches; the remaining calls of a path show what was sent instead. */
function callFaults(
  expected: LocatedNode,
  calls: readonly BackendCall[],
  isAll: boolean,
): readonly Finding[] {
  const left = [...calls];
  const items = expected.kind === 'list' ? expected.items : [];
  const missing = items.filter((item) => {
    const index = left.findIndex((call) => callDifferences(item, call).length === 0);
    if (index !== -1) left.splice(index, 1);
    return index === -1;
  });
  const found = missing.flatMap((item) => {
    const near = nearest(item, left);
    if (near === undefined)
      return [fault(item.at, `the backend did not get this call; it got ${listCalls(left)}`)];
    left.splice(left.indexOf(near), 1);
    return callDifferences(item, near);
  });
  if (!isAll || left.length === 0) return found;
  return [...found, fault(expected.at, `the backend also got ${listCalls(left)}`)];
}

function nearest(item: LocatedNode, left: readonly BackendCall[]): BackendCall | undefined {
  const path = textOf(valueOf(item, 'path'));
  const ofPath = left.filter((call) => path === undefined || call.path === path);
  return ofPath.sort((a, b) => callDifferences(item, a).length - callDifferences(item, b).length)[0];
}

function callDifferences(item: LocatedNode, call: BackendCall): readonly Finding[] {
  const path = valueOf(item, 'path');
  const logsql = valueOf(item, 'logsql');
  return [
    ...(path === undefined ? [] : differences(path, call.path, 'path')),
    ...(logsql === undefined ? [] : differences(logsql, call.args.get('query'), 'LogsQL')),
    ...textDifferences(valueOf(item, 'args'), call.args, 'argument'),
    ...textDifferences(valueOf(item, 'headers'), lowerCase(call.headers), 'header'),
  ];
}

function textDifferences(
  expected: LocatedNode | undefined,
  actual: ReadonlyMap<string, string>,
  kind: string,
): readonly Finding[] {
  const entries = expected?.kind === 'map' ? expected.entries : [];
  return entries.flatMap(({ key, value }) => {
    const got = actual.get(kind === 'header' ? key.toLowerCase() : key);
    const wanted = value.kind === 'scalar' ? String(value.value) : '';
    return got === wanted
      ? []
      : [fault(value.at, `${kind} ${key}: expected ${show(wanted)}, got ${show(got)}`)];
  });
}

function lowerCase(headers: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...headers].map(([name, value]) => [name.toLowerCase(), value]));
}

function listCalls(calls: readonly BackendCall[]): string {
  return calls.length === 0 ? 'no other' : calls.slice(0, 5).map(showCall).join('; ');
}

function logFaults(expected: LocatedNode, records: PipelineAnswer['log']): readonly Finding[] {
  const items = expected.kind === 'list' ? expected.items : [];
  const plain = records.map((record) => Object.fromEntries(record));
  return items
    .filter((item) => !plain.some((record) => matchesExpected(item, record)))
    .map((item) => {
      const bodies = records.map((record) => show(record.get('body')));
      const body = textOf(valueOf(item, 'body'));
      const near = plain.find((record) => body !== undefined && record['body'] === body);
      const [first] =
        near === undefined || item.kind !== 'map'
          ? []
          : item.entries.flatMap(({ key, value }) => differences(value, near[key], key));
      return (
        first ??
        fault(
          item.at,
          `no such record; logged ${bodies.length === 0 ? 'was nothing' : `were ${bodies.join(', ')}`}`,
        )
      );
    });
}

function shortened(text: string): string {
  const line = text.trim();
  return line.length > 200 ? `${line.slice(0, 200)}...` : line;
}
