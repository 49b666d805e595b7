import { request } from 'undici';
import { conformanceCorpus, tenantMapOf } from '../conformance/corpus.js';
import { fillStore } from '../conformance/load-data.js';
import { DamagingRelay } from '../faults/relay.js';
import { Watched, type WatchSettings } from '../watch/watched.js';

/**
 * The program as users run it, and the embedded backend (or that of BACKEND_URL), in separate processes, with a relay between them that can
 * damage responses.
 */
export interface Pair {
  readonly proxy: Watched;
  readonly relay: DamagingRelay;
  close(): Promise<void>;
}

const tenantMap = tenantMapOf(conformanceCorpus);

/** Starts both; the backend has the corpus unless `fill` loads other data. */
export async function openPair(
  flags: readonly string[] = [],
  settings: WatchSettings = {},
  fill: (url: string) => Promise<void> = withCorpus,
): Promise<Pair> {
  const external = process.env['BACKEND_URL'];
  const backend =
    external === undefined ? await Watched.start(['backend', '-listen=127.0.0.1:0']) : undefined;
  const backendUrl = external ?? backend?.url ?? '';
  const close = async (): Promise<void> => {
    await backend?.kill();
  };
  try {
    await fill(backendUrl);
    const relay = await DamagingRelay.open(backendUrl);
    const proxy = await Watched.start(
      [
        'serve',
        `-backend=${relay.url}`,
        `-tenant-map=${tenantMap}`,
        '-listen=127.0.0.1:0',
        '-admin-listen=127.0.0.1:0',
        '-rate-limit-per-second=0',
        '-server.register-instrumentation=true',
        ...flags,
      ],
      settings,
    );
    return {
      proxy,
      relay,
      close: async () => {
        await proxy.stop();
        relay.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function withCorpus(url: string): Promise<void> {
  await fillStore(url, conformanceCorpus);
}

/** The sum of a gauge over all labels. */
export async function gauge(url: string, name: string): Promise<number> {
  const { body } = await request(`${url}/metrics`);
  const lines = (await body.text())
    .split('\n')
    .filter((line) => new RegExp(`^${name}(\\{.*\\})? `).test(line));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
