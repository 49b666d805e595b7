import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Of the collections that V8 knows, the one that gives memory back to the system. */
const most = { type: 'major', execution: 'sync', flavor: 'last-resort' } as const;

/**
 * Gives back what loading and compiling have left behind: on Node.js 22 and later some 40 MB, most of it a nursery that has grown for that.
 * It takes 0.1 s and is meant for an idle process; under load the nursery grows again. Older releases have no such collection.
 */
export function giveBackMemory(): void {
  if (Number(process.versions.node.split('.')[0]) < 22) return;
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect === 'function') Reflect.apply(collect, undefined, [most]);
}

/** The time after its start by which a process has had its first requests, if clients were waiting for it. */
const laterMs = 3_000;

/** Gives back memory when a process has begun to serve and no request waits for an answer. Returns a function that cancels it. */
export function giveBackLater(
  answering: () => number,
  delayMs = laterMs,
  giveBack: () => unknown = giveBackMemory,
): () => void {
  const look = (): void => {
    if (answering() > 0) timer.refresh();
    else giveBack();
  };
  const timer = setTimeout(look, delayMs).unref();
  return () => {
    clearTimeout(timer);
  };
}
