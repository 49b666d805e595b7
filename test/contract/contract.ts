import { compareReply, learnStreamIds } from './compare.js';
import { ask, type Recording, readRecordings, type Reply } from './recordings.js';

/** The result of one recording. */
export interface Outcome {
  readonly recording: Recording;
  /** The difference; undefined for a pass. */
  readonly difference: string | undefined;
  /** For errors: a difference in the advisory text, which is not a failure. */
  readonly otherText: string | undefined;
}

/** Sends every recorded request to a loaded server and compares the answers under their rules. */
export async function replay(url: string): Promise<Outcome[]> {
  const recordings = await readRecordings();
  const replies: { recording: Recording; reply: Reply; unlimited?: Reply }[] = [];
  for (const recording of recordings) {
    const reply = await ask(url, recording);
    if (recording.compare !== 'subset') replies.push({ recording, reply });
    else {
      const params = { ...recording.params };
      delete params['limit'];
      replies.push({ recording, reply, unlimited: await ask(url, { ...recording, params }) });
    }
  }
  const ids = {
    wanted: learnStreamIds(recordings.map(({ body }) => body)),
    got: learnStreamIds(replies.map(({ reply }) => reply.body)),
  };
  return replies.map(({ recording, reply, unlimited }) => ({
    recording,
    difference: compareReply(recording, reply, ids, unlimited),
    otherText:
      recording.compare === 'error' && reply.body.trim() !== recording.body.trim()
        ? reply.body.trim()
        : undefined,
  }));
}

/** Group of a recording: the part of its id before the number or the second word. */
export function groupOf({ recording }: Outcome): string {
  return /^[a-z]+/.exec(recording.id)?.[0] ?? recording.id;
}
