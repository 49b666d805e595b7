import { startTimer } from './waits.js';

const parts = 20;

/**
 * The result of work, unless it takes too long. The wait is split into parts: a late timer means that this process was busy, so it counts
 * no more than its part.
 * @param late makes the timeout error
 */
export async function within<Value>(ms: number, work: Promise<Value>, late: () => Error): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_, reject) => {
    const wait = (left: number): void => {
      if (left === 0) reject(late());
      else timer = startTimer(() => wait(left - 1), ms / parts);
    };
    wait(parts);
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}

/** Tells whether work settles within a time; rejects if the work does. */
export async function settles(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = startTimer(() => resolve(false), ms)));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
