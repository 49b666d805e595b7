import { Hub } from '../../../core/workers/hub.js';
import { Channel } from '../../../core/workers/channel.js';
import { Joined } from '../../../core/workers/workers.js';
import { FakeClock } from '../../../core/testing/index.js';

/** Workers and a first process, all in one process; each message takes a turn of the event loop. */
export interface Fleet {
  readonly clock: FakeClock;
  readonly hub: Hub;
  readonly workers: readonly Joined[];
  /** Ends a worker's process and starts another one with the same id, which has not joined yet. */
  replace(id: number): Joined;
  /** Holds back messages to a worker until the returned function is called. */
  sleep(id: number): () => void;
}

export async function makeFleet(count: number): Promise<Fleet> {
  const clock = new FakeClock();
  const hub = new Hub({ clock, workers: count });
  const asleep = new Map<number, (() => void)[]>();
  const ends = new Map<number, { readonly joined: Joined; readonly channel: Channel; isOver: boolean }>();
  const start = (id: number): Joined => {
    const later = (deliver: () => void): boolean => {
      if (end.isOver) return false;
      setImmediate(() => {
        if (end.isOver) return;
        const kept = asleep.get(id);
        if (kept === undefined) deliver();
        else kept.push(deliver);
      });
      return true;
    };
    const channel: Channel = hub.connect(id, (message) => later(() => own.receive(message)));
    const own = new Channel((message) => {
      if (end.isOver) return false;
      setImmediate(() => channel.receive(message));
      return true;
    });
    const end = { joined: new Joined({ id, count, channel: own, clock }), channel, isOver: false };
    ends.set(id, end);
    return end.joined;
  };
  const workers = Array.from({ length: count }, (_, index) => start(index + 1));
  await Promise.all(workers.map((worker) => worker.join()));
  return {
    clock,
    hub,
    workers,
    replace: (id) => {
      const end = ends.get(id);
      if (end === undefined) throw new Error(`there is no worker ${id}`);
      end.isOver = true;
      hub.disconnect(id, end.channel);
      return start(id);
    },
    sleep: (id) => {
      asleep.set(id, []);
      return () => {
        const kept = asleep.get(id) ?? [];
        asleep.delete(id);
        for (const deliver of kept) deliver();
      };
    },
  };
}
