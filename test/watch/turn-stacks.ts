/**
 * A thread next to the main one: when a turn takes long and has not ended, it samples the call stack. Turn numbers come through shared
 * memory; the call stack goes back as a message with the number of its turn.
 */
import { Session, type Debugger, type InspectorNotification } from 'node:inspector';
import { parentPort, workerData } from 'node:worker_threads';
import { openProcessorClock } from './processor-clock.js';
import type { StackSetup, TurnStack } from './measures.js';

const lookEveryMs = 5;
const maxFrames = 12;

const { turn, lookedAtMs } = workerData as StackSetup;
const number = new Int32Array(turn);
const session = new Session();
session.connectToMainThread();

/** The turn being sampled. */
let looked = -1;

const urls = new Map<string, string>();
session.on(
  'Debugger.scriptParsed',
  ({ params }: InspectorNotification<Debugger.ScriptParsedEventDataType>) => {
    urls.set(params.scriptId, params.url.replace(/^.*\/(?=dist\/|node_modules\/)/, ''));
  },
);
session.on('Debugger.paused', ({ params }: InspectorNotification<Debugger.PausedEventDataType>) => {
  const frames = params.callFrames.slice(0, maxFrames).map(({ functionName, location }) => {
    const place = `${urls.get(location.scriptId) ?? ''}:${location.lineNumber + 1}`;
    return `${functionName === '' ? '(anonymous)' : functionName} ${place}`;
  });
  session.post('Debugger.resume');
  if (Atomics.load(number, 0) === looked)
    parentPort?.postMessage({ turn: looked, frames } satisfies TurnStack);
});
session.post('Debugger.enable');

const processorMs = openProcessorClock();
let seen = -1;
let sinceMs = 0;
setInterval(() => {
  const current = Atomics.load(number, 0);
  const spentMs = processorMs();
  if (current !== seen) {
    seen = current;
    sinceMs = spentMs;
  } else if (spentMs - sinceMs >= lookedAtMs && looked !== current) {
    looked = current;
    session.post('Debugger.pause');
  }
}, lookEveryMs);
