import { useEffect, useRef, useState } from 'preact/hooks';
import { failureText } from './api.js';

/** The state of a request: its answer, or the text of its failure. */
export type AskedAnswer<Data> =
  | { readonly kind: 'asking' }
  | { readonly kind: 'failed'; readonly text: string }
  | { readonly kind: 'answered'; readonly data: Data };

const asking = { kind: 'asking' } as const;
const withinMs = 60_000;

/**
 * Sends one request for each key, after a pause. A key is a value or an object; without one, no request is sent. A new key, or the end of
 * the component, aborts the request before.
 */
export function useAnswer<Data>(
  key: unknown,
  read: (signal: AbortSignal) => Promise<Data>,
  pauseMs = 0,
): AskedAnswer<Data> {
  const [found, set] = useState<{ readonly key: unknown; readonly answer: AskedAnswer<Data> }>();
  useEffect(() => {
    if (key === undefined) return undefined;
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(withinMs)]);
    const timer = setTimeout(() => {
      read(signal).then(
        (data) => !controller.signal.aborted && set({ key, answer: { kind: 'answered', data } }),
        (error: unknown) =>
          !controller.signal.aborted && set({ key, answer: { kind: 'failed', text: failureText(error) } }),
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key]);
  return found !== undefined && found.key === key ? found.answer : asking;
}

/** The answer as such; undefined while it is asked for, and if that has failed. */
export function dataOf<Data>(answer: AskedAnswer<Data>): Data | undefined {
  return answer.kind === 'answered' ? answer.data : undefined;
}

/** The latest answer that is known, while the next one is asked for. */
export function useLatest<Data>(answer: AskedAnswer<Data>): AskedAnswer<Data> {
  const last = useRef(answer);
  if (answer.kind !== 'asking') last.current = answer;
  return last.current;
}
