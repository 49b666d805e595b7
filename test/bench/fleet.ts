import { simulate, type Event, type Sharing } from '../fleet/simulation.js';
import { note } from './report.js';

const settings = {
  seed: 20_261_123,
  requests: 300_000,
  questions: 5_000,
  requestsPerSecond: 200,
  cacheBytes: 64 * 1024 * 1024,
};
const sizes = [3, 5, 10, 30, 100];
const sharings: readonly Sharing[] = ['apart', 'peers', 'store'];
const events: readonly Event[] = ['none', 'restart', 'zone'];

/** Simulates the backend requests of a fleet (test/fleet/simulation.ts): separate replicas, peers, and a shared store. */
export function run(): Promise<void> {
  console.log(
    `${settings.requests} requests of ${settings.questions} questions at ${settings.requestsPerSecond}/s, ${settings.cacheBytes >> 20} MiB for each replica`,
  );
  console.log(
    'replicas  sharing  event     calls of the backend  shareable  of apart  MiB shared  busiest owner',
  );
  for (const replicas of sizes)
    for (const event of events) {
      const apart = simulate({ ...settings, replicas, event, sharing: 'apart' });
      for (const sharing of sharings) {
        const result = sharing === 'apart' ? apart : simulate({ ...settings, replicas, event, sharing });
        const share = result.shareableCalls / apart.shareableCalls;
        note('fleet', `${replicas} replicas, ${sharing}, ${event}: calls of the backend, of apart`, share);
        console.log(
          [
            String(replicas).padEnd(10),
            sharing.padEnd(9),
            event.padEnd(9),
            String(result.backendCalls).padStart(20),
            String(result.shareableCalls).padStart(11),
            share.toFixed(2).padStart(10),
            (result.sharedBytes / 2 ** 20).toFixed(0).padStart(12),
            result.imbalance.toFixed(2).padStart(15),
          ].join(''),
        );
      }
    }
  return Promise.resolve();
}
