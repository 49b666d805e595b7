import { parentPort } from 'node:worker_threads';
import { ApiError } from '../../base/errors/api-error.js';
import type { ErrorEntry } from '../../base/errors/api-error.js';
import { errorTable } from '../../base/errors/table.js';
import { compileExtractor } from '../pipeline/extractor.js';
import { compilePipeline } from '../pipeline/compile.js';
import { jsonPathsOf } from '../pipeline/key-paths.js';
import type { WorkerResult, WorkerRequest } from './messages.js';
import { receiveEntry, sendLine, sendPaths, sendSample, type LineWork, type SentEntry } from './work.js';

type Run = (entry: SentEntry) => unknown;

const compiled = new Map<number, Run>();

parentPort?.on('message', (asked: WorkerRequest) => {
  parentPort?.postMessage(answer(asked));
});

function answer({ key, work, forgets, entry }: WorkerRequest): WorkerResult {
  try {
    if (forgets) compiled.clear();
    if (work !== undefined) compiled.set(key, compile(work));
    const run = compiled.get(key);
    if (run === undefined) throw new Error('work that was never sent');
    return { result: run(entry) };
  } catch (error) {
    return { fault: { id: idOf(error), text: error instanceof Error ? error.message : String(error) } };
  }
}

function compile(work: LineWork): Run {
  if (work.kind === 'pipeline') {
    const pipeline = compilePipeline(work.stages);
    return (sent) => {
      const entry = receiveEntry(sent);
      const made = pipeline(entry);
      return made === undefined ? undefined : sendLine(made, entry);
    };
  }
  if (work.kind === 'key-paths') return ({ line, stream }) => sendPaths(jsonPathsOf(line, stream));
  const extract = compileExtractor(work.range, work.pushed);
  return (sent) => {
    const sample = extract(receiveEntry(sent));
    return sample === undefined ? undefined : sendSample(sample);
  };
}

/** The id in the error table that an error belongs to. */
function idOf(error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const entries: readonly (readonly [string, ErrorEntry])[] = Object.entries(errorTable);
  return entries.find(([, entry]) => entry === error.entry)?.[0];
}
