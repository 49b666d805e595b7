import { stat } from 'node:fs/promises';
import type { Service } from '../until-signal.js';
import { startInterval } from '../../base/time/waits.js';

/** Interval at which files are checked. System notifications would miss files that are mounted, or replaced by a link to another folder. */
const lookEveryMs = 1_000;

/** A service that is reloaded when a file has changed (`-pipeline.watch`), once the change has been stable for one check. */
export function watching(service: Service, files: () => readonly string[], everyMs = lookEveryMs): Service {
  let served: string | undefined;
  let seen: string | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const now = await signatureOf(files());
      served ??= now;
      // A file that is being written is left alone until it is stable.
      if (now !== served && now === seen) {
        served = now;
        await service.reload?.();
        // The file may now include others.
        served = await signatureOf(files());
      }
      seen = now;
    } finally {
      isLooking = false;
    }
  };
  void look();
  const timer = startInterval(() => void look(), everyMs).unref();
  return {
    ...(service.ended === undefined ? {} : { ended: service.ended }),
    reload: async () => service.reload?.(),
    leave: async (hurry) => service.leave?.(hurry),
    close: async () => {
      clearInterval(timer);
      await service.close();
    },
  };
}

/** A signature that is equal unless a file was changed, replaced or removed. */
async function signatureOf(files: readonly string[]): Promise<string> {
  const parts = await Promise.all(
    files.map(async (file) => {
      try {
        const { ino, size, mtimeMs } = await stat(file);
        return `${ino} ${size} ${mtimeMs}`;
      } catch {
        return 'gone';
      }
    }),
  );
  return parts.join();
}
