import { Session, type HeapProfiler, type Profiler } from 'node:inspector/promises';
import { getHeapSnapshot } from 'node:v8';
import { finishedAnswer, textAnswer } from '../../core/wire/answer/encode.js';
import { apiError, type Answer, type HttpCall } from '../../core/plugin/index.js';
import type * as Pprof from './pprof.js';
import { sleep } from '../../core/base/time/waits.js';

const defaultSeconds = 30;
const maxSeconds = 60;
const jsonType = 'application/json';
const pprofType = 'application/octet-stream';

const index = `profile?seconds=30  time on the processor
allocs?seconds=30   what is allocated within the time, sampled
heap?seconds=30     what of that is still in use at its end

These have the format of pprof: go tool pprof -top http://HOST/debug/pprof/profile

profile?format=v8&seconds=30  CPU profile (.cpuprofile)
allocs?format=v8&seconds=30   sampled allocations (.heapprofile)
heap?format=v8                heap snapshot (.heapsnapshot)

Chrome's developer tools open these three.
`;

/**
 * Answers `/debug/pprof/{profile}` with profiles of this process, one at a time, in the format of pprof or of V8; without a name, with the
 * list of profiles.
 * @param maxHeapBytes limit of the heap for snapshots, which are built in memory and about as large
 * @param worker number of this process among several workers, which file names contain
 */
export function profiler({
  maxHeapBytes = 256 * 1024 * 1024,
  worker,
}: { readonly maxHeapBytes?: number; readonly worker?: number | undefined } = {}) {
  let isBusy = false;
  const download = (file: string, body: string | Buffer, type = jsonType): Answer => {
    const name = worker === undefined ? file : `worker-${worker}-${file}`;
    const headers = new Map([['Content-Disposition', `attachment; filename="${name}"`]]);
    return finishedAnswer(200, Buffer.from(body), type, headers);
  };
  const alone = async (take: () => Promise<Answer>): Promise<Answer> => {
    if (isBusy) throw apiError('profileBusy', {});
    isBusy = true;
    try {
      return await take();
    } finally {
      isBusy = false;
    }
  };
  const heapSnapshot = async (): Promise<Buffer> => {
    const bytes = process.memoryUsage().heapUsed;
    if (bytes > maxHeapBytes) throw apiError('heapTooLarge', { bytes, limit: maxHeapBytes });
    const parts: Buffer[] = [];
    // The stream yields Buffers or strings, as V8 writes them.
    for await (const part of getHeapSnapshot() as AsyncIterable<Buffer | string>)
      parts.push(Buffer.from(part));
    return Buffer.concat(parts);
  };
  return async ({ pathParams, params, signal }: HttpCall): Promise<Answer> => {
    const name = pathParams.get('profile') ?? '';
    const ms = readSeconds(params.get('seconds')?.[0]) * 1000;
    const isOfV8 = params.get('format')?.[0] === 'v8';
    switch (name) {
      case '':
        return textAnswer(200, index);
      case 'profile':
        return alone(async () => {
          const profile = await cpuProfile(ms, signal);
          if (isOfV8) return download('cpu.cpuprofile', JSON.stringify(profile));
          return download('cpu.pb.gz', await (await pprof()).pprofOfCpu(profile), pprofType);
        });
      case 'allocs':
        return alone(async () => {
          const profile = await allocations(ms, signal, !isOfV8);
          if (isOfV8) return download('allocations.heapprofile', JSON.stringify(profile));
          const body = await (await pprof()).pprofOfHeap(profile, 'alloc_space', ms);
          return download('allocations.pb.gz', body, pprofType);
        });
      case 'heap':
        return alone(async () => {
          if (isOfV8) return download('heap.heapsnapshot', await heapSnapshot());
          const profile = await allocations(ms, signal, false);
          const body = await (await pprof()).pprofOfHeap(profile, 'inuse_space', ms);
          return download('heap.pb.gz', body, pprofType);
        });
      default:
        throw apiError('notFound', {});
    }
  };
}

/** Loads the pprof writer on the first request for it. */
function pprof(): Promise<typeof Pprof> {
  return import('./pprof.js');
}

/** The requested seconds, within the limits; an invalid number counts as missing. */
function readSeconds(text: string | undefined): number {
  const seconds = Number(text ?? '');
  return seconds > 0 ? Math.min(seconds, maxSeconds) : defaultSeconds;
}

async function cpuProfile(ms: number, signal: AbortSignal): Promise<Profiler.Profile> {
  return withSession(async (session) => {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await sleep(ms, { signal });
    return (await session.post('Profiler.stop')).profile;
  });
}

/** Profiles allocations that are still in use, or with `all` also those that have been collected since. */
async function allocations(
  ms: number,
  signal: AbortSignal,
  all: boolean,
): Promise<HeapProfiler.SamplingHeapProfile> {
  return withSession(async (session) => {
    await session.post('HeapProfiler.startSampling', {
      includeObjectsCollectedByMajorGC: all,
      includeObjectsCollectedByMinorGC: all,
    });
    await sleep(ms, { signal });
    return (await session.post('HeapProfiler.stopSampling')).profile;
  });
}

/** Closing the session ends everything started in it. */
async function withSession<Result>(use: (session: Session) => Promise<Result>): Promise<Result> {
  const session = new Session();
  session.connect();
  try {
    return await use(session);
  } finally {
    session.disconnect();
  }
}
