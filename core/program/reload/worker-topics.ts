import { ofKey } from '../../base/memory/byte-lru.js';
import { OverrideStack } from '../../base/override-stack.js';
import type { Host } from '../../kernel/plugin/host.js';
import type { Topic } from '../../workers/channel.js';
import type { Answer, Workers } from '../../workers/workers.js';

/** Handlers of plugins for requests of other workers: of the plugins that have not stopped, the latest one answers. */
export class WorkerTopics {
  readonly #workers: Workers;
  readonly #answers = new Map<string, OverrideStack<Answer<never, unknown>>>();

  constructor(workers: Workers) {
    this.#workers = workers;
  }

  /** The workers as seen by one plugin. */
  for(onStop: Host['onStop']): Workers {
    const workers = this.#workers;
    return {
      id: workers.id,
      count: workers.count,
      sockets: workers.sockets,
      answer: (topic, answer) => onStop(this.#of(topic).claim(answer)),
      gather: (topic, asked, how) => workers.gather(topic, asked, how),
      tokens: (terms) => released(workers.tokens(terms), onStop),
      permits: (terms) => released(workers.permits(terms), onStop),
    };
  }

  #of<Asked, Answered>(topic: Topic<Asked, Answered>): OverrideStack<Answer<never, unknown>> {
    return ofKey(this.#answers, topic.name, () => {
      const claims = new OverrideStack<Answer<never, unknown>>();
      this.#workers.answer(topic, (asked) => {
        // The topic implies the types of its handler.
        const answer = claims.current as Answer<Asked, Answered> | undefined;
        if (answer === undefined) throw new Error(`no plugin handles ${topic.name} any more`);
        return answer(asked);
      });
      return claims;
    });
  }
}

/** Releases a stopped plugin's part of a budget. */
function released<Part extends { release(): void }>(part: Part, onStop: Host['onStop']): Part {
  onStop(() => part.release());
  return part;
}
