/** A resource that stays open until it is closed. */
export interface Held<Thing> {
  readonly thing: Thing;
  close(): Promise<void>;
}

/** For a proxy with many concurrent tests: on a busy machine it would reject some of their requests. */
export const forMany = { 'max-concurrent': '0' };

/** Keeps a resource open that a function opens only for a callback, so that all tests of a file can use it. */
export async function heldOpen<Thing>(
  open: (use: (thing: Thing) => Promise<void>) => Promise<void>,
): Promise<Held<Thing>> {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  let closed = Promise.resolve();
  const thing = await new Promise<Thing>((resolve, reject) => {
    closed = open(async (opened) => {
      resolve(opened);
      await ended;
    });
    closed.catch(reject);
  });
  return {
    thing,
    close: async () => {
      end();
      await closed;
    },
  };
}
