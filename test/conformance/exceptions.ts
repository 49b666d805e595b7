import { readLines } from './cases.js';

/** Cases where the specification rules otherwise than Loki answers, with the reason; docs/differences.md tells them too. */
export function readExceptions(): ReadonlyMap<string, string> {
  return new Map(
    readLines('test/conformance/exceptions.jsonl').map((line) => {
      // Data of this repository.
      const { id, reason } = JSON.parse(line) as { readonly id: string; readonly reason: string };
      return [id, reason];
    }),
  );
}
