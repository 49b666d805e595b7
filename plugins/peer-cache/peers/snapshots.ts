/** What other replicas know, for a process that starts. */
import { setTimeout as wait } from 'node:timers/promises';
import { inParallel } from '../../../core/base/pace/in-parallel.js';
import { largestSnapshot, type Asking } from '../../../core/cache/fleet.js';
import type { Members } from './members.js';
import type { Peer, PeerHouse } from './peer.js';

/** More of them hardly know more. */
const maxAsked = 8;
const askedAtOnce = 2;
const longestTimerMs = 2 ** 31 - 1;

/** @param started resolves when the members are known */
export async function askForSnapshots(
  { name, timeoutMs: wantedMs, signal, use }: Asking,
  house: Pick<PeerHouse, 'log'>,
  members: Pick<Members, 'peers'>,
  started: Promise<void>,
): Promise<void> {
  const timeoutMs = Math.min(wantedMs, longestTimerMs);
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  const asking = async (): Promise<void> => {
    await started;
    const some = shuffled(members.peers.filter(({ isUp }) => isUp)).slice(0, maxAsked);
    await inParallel(
      some,
      askedAtOnce,
      async (peer) => {
        const told = await peer.get(name, { isAhead: true, timeoutMs });
        const bytes = told?.hit?.packed;
        if (bytes === undefined) return;
        ended.throwIfAborted();
        try {
          if (bytes.byteLength > largestSnapshot) throw new Error(`it is over ${largestSnapshot} bytes`);
          await use(bytes, ended);
        } catch (error) {
          ended.throwIfAborted();
          house.log.warn('what a peer knows cannot be used', {
            'peer.address': peer.address.text,
            name,
            error,
          });
        }
      },
      ended,
    );
  };
  const late = wait(timeoutMs, undefined, { signal, ref: false });
  try {
    await Promise.race([asking(), late]);
  } catch (error) {
    if (signal.aborted || !ended.aborted) throw error;
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}

function shuffled(peers: readonly Peer[]): readonly Peer[] {
  return peers
    .map((peer) => ({ peer, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ peer }) => peer);
}
