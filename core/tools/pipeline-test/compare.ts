import { suggest } from '../../kernel/options/index.js';
import type { LocatedNode, LocatedScalar } from '../../kernel/pipeline/located.js';
import type { Finding } from '../../kernel/pipeline/index.js';
import { fault } from './read-file.js';

/** Maximum length of a value in a message. */
const maxShown = 400;

/**
 * Differences between an expected value in the file and an actual one, each with its position in the file. `path` names the value in
 * messages: `data.result[0]`.
 */
export function differences(expected: LocatedNode, actual: unknown, path: string): readonly Finding[] {
  switch (expected.kind) {
    case 'scalar':
      return expected.value === actual ? [] : [differs(expected, actual, path)];
    case 'list':
      return Array.isArray(actual)
        ? listDifferences(expected, actual, path)
        : [differs(expected, actual, path)];
    case 'map':
      return isObject(actual) ? mapDifferences(expected, actual, path) : [differs(expected, actual, path)];
  }
}

/** True if the actual value has everything that is expected: mappings may have additional members, lists are compared as a whole. */
export function matchesExpected(expected: LocatedNode, actual: unknown): boolean {
  if (expected.kind !== 'map') return differences(expected, actual, '').length === 0;
  if (!isObject(actual)) return false;
  return expected.entries.every(
    ({ key, value }) => Object.hasOwn(actual, key) && matchesExpected(value, Reflect.get(actual, key)),
  );
}

function listDifferences(
  expected: Extract<LocatedNode, { kind: 'list' }>,
  actual: readonly unknown[],
  path: string,
): readonly Finding[] {
  if (expected.items.length !== actual.length) {
    const [wanted, got] = [expected.items.length, actual.length];
    return [
      fault(
        expected.at,
        `${path}: ${counted(wanted)} expected, there ${got === 1 ? 'is' : 'are'} ${got}: ${show(actual)}`,
      ),
    ];
  }
  return expected.items.flatMap((item, index) => differences(item, actual[index], `${path}[${index}]`));
}

function mapDifferences(
  expected: Extract<LocatedNode, { kind: 'map' }>,
  actual: object,
  path: string,
): readonly Finding[] {
  const keys = expected.entries.map(({ key }) => key);
  const others = Object.keys(actual).filter((key) => !keys.includes(key));
  const found = expected.entries.flatMap(({ key, keyAt, value }) => {
    const inner = path === '' ? key : `${path}.${key}`;
    if (Object.hasOwn(actual, key)) return differences(value, Reflect.get(actual, key), inner);
    return [fault(keyAt, `${inner} is not there`, meant(key, others))];
  });
  // A misspelt key is reported at its own position.
  if (others.length === 0 || found.length > 0) return found;
  return [fault(expected.at, `${path === '' ? 'the answer' : path} also has ${others.join(', ')}`)];
}

function differs(expected: LocatedNode, actual: unknown, path: string): Finding {
  const wanted =
    expected.kind === 'scalar' ? show(expected.value) : expected.kind === 'list' ? 'a list' : 'a mapping';
  const isOfOtherType = expected.kind === 'scalar' && String(expected.value) === String(actual);
  return fault(
    expected.at,
    `${path}: expected ${wanted}, got ${show(actual)}`,
    isOfOtherType ? howToWrite(expected) : undefined,
  );
}

function howToWrite({ value }: LocatedScalar): string {
  return typeof value === 'string'
    ? 'it is not a string: write it without quotes'
    : 'it is a string: write it in quotes';
}

/** The value at a path such as `data.result[0].stream["a.b"]`, or the reason why there is none. */
export function lookUp(
  path: string,
  root: unknown,
): { readonly value: unknown } | { readonly problem: string; readonly fix?: string } {
  const steps = stepsOf(path);
  if (steps === undefined) return { problem: `"${path}" is not a path such as data.result[0].stream["a.b"]` };
  let here = root;
  let before = 'the answer';
  for (const step of steps) {
    if (Array.isArray(here) && step === 'length') return { value: here.length };
    const isThere = typeof here === 'object' && here !== null && Object.hasOwn(here, step);
    if (!isThere) {
      if (Array.isArray(here)) return { problem: `${before} has ${counted(here.length)}` };
      if (!isObject(here)) return { problem: `${before} is ${show(here)}` };
      const keys = Object.keys(here);
      const fix = meant(step, keys);
      return { problem: `${before} has only ${keys.join(', ')}`, ...(fix === undefined ? {} : { fix }) };
    }
    here = Reflect.get(Object(here), step);
    before = before === 'the answer' ? step : `${before}.${step}`;
  }
  return { value: here };
}

const step = /(?:^|\.)(?<name>[^.[\]"]+)|\[(?<index>\d+)\]|\["(?<quoted>[^"]*)"\]/y;

function stepsOf(path: string): readonly string[] | undefined {
  const steps: string[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < path.length) {
    const found = step.exec(path)?.groups;
    const name = found?.['name'] ?? found?.['index'] ?? found?.['quoted'];
    if (name === undefined) return undefined;
    steps.push(name);
  }
  return steps;
}

export function meant(word: string, words: readonly string[]): string | undefined {
  const near = suggest(word, words);
  return near === undefined ? undefined : `did you mean "${near}"?`;
}

export function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}

function counted(count: number): string {
  return `${count} item${count === 1 ? '' : 's'}`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
