import { readLines } from './cases.js';

/** Cases in which the specification deviates from Loki's answers, with the reason; docs/differences.md lists them, too. */
export function readExceptions(file = 'test/conformance/exceptions.jsonl'): ReadonlyMap<string, string> {
  return new Map(
    readLines(file).map((line) => {
      // Data of this repository.
      const { id, reason } = JSON.parse(line) as { readonly id: string; readonly reason: string };
      return [id, reason];
    }),
  );
}
