import { compareReply, learnStreamIds } from './compare.js';
import { ask, type Recording, readRecordings, type Reply } from './recordings.js';

/** How one recording fared. */
export interface Outcome {
  readonly recording: Recording;
  /** What differs; undefined for a pass. */
  readonly difference: string | undefined;
  /** For errors: whether the advisory text differs too, which is no failure. */
  readonly otherText: string | undefined;
}

/** Asks a loaded server every recorded request and compares the answers under their rules. */
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

/** Group of a recording: what stands in front of its number or second word. */
export function groupOf({ recording }: Outcome): string {
  return /^[a-z]+/.exec(recording.id)?.[0] ?? recording.id;
}
