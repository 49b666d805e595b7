/**
 * Loaded into a program with `--import`: reports to the parent process which source files have run since the last report. Intervals are
 * disabled in such a program, because their work belongs to no request.
 */
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../../', import.meta.url));
const ownFiles = /^(?:core|plugins)\//;

const { setInterval: startInterval } = globalThis;
globalThis.setInterval = (_run: unknown, ms?: number) => startInterval(() => undefined, ms);

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Files with a function that was called. */
async function takeFiles(): Promise<readonly string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
    .map(({ url }) => (url.startsWith('file:') ? fileURLToPath(url) : ''))
    .flatMap((path) => (path.startsWith(dist) ? [path.slice(dist.length)] : []))
    .filter((path) => ownFiles.test(path))
    .sort();
}

process.on('message', () => void takeFiles().then((files) => process.send?.(files)));
// The channel to the parent must not keep the program running.
process.channel?.unref();
