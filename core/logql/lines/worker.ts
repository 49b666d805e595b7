import { parentPort } from 'node:worker_threads';
import { compileExtractor } from '../pipeline/extractor.js';
import { compilePipeline } from '../pipeline/output.js';
import { jsonPathsOf } from '../pipeline/key-table.js';
import { faultOf } from '../../base/errors/fault.js';
import {
  type WorkerResult,
  type WorkerRequest,
  receiveEntry,
  sendLine,
  sendPaths,
  sendSample,
  type LineWork,
  type SentEntry,
} from './work.js';

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
    return { fault: faultOf(error) };
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
