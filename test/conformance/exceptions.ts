import { readLines } from './cases.js';

/** Cases where the specification rules otherwise than Loki answers, with the reason; docs/differences.md lists them too. */
export function readExceptions(file = 'test/conformance/exceptions.jsonl'): ReadonlyMap<string, string> {
  return new Map(
    readLines(file).map((line) => {
      // Data of this repository.
      const { id, reason } = JSON.parse(line) as { readonly id: string; readonly reason: string };
      return [id, reason];
    }),
  );
}
