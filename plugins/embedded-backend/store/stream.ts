import { Block } from './block.js';
import type { RowLayout } from './row-layout.js';
import type { StreamTags } from './stream-tags.js';

/** One log stream of one tenant: its identity and its blocks in arrival order. */
export class Stream {
  readonly tags: StreamTags;
  /** `_stream` text. */
  readonly text: string;
  /** `_stream_id`. */
  readonly id: string;
  /** Creation order in the tenant, which breaks ties between streams. */
  readonly ordinal: number;
  #blocks: Block[] = [];
  #rows = 0;

  constructor(tags: StreamTags, text: string, id: string, ordinal: number) {
    this.tags = tags;
    this.text = text;
    this.id = id;
    this.ordinal = ordinal;
  }

  get rows(): number {
    return this.#rows;
  }

  get blocks(): readonly Block[] {
    return this.#blocks;
  }

  append(timeNs: bigint, layout: RowLayout, values: readonly string[]): void {
    let block = this.#blocks.at(-1);
    if (block === undefined || block.full) {
      block = new Block();
      this.#blocks.push(block);
    }
    block.append(timeNs, layout, values);
    this.#rows++;
  }

  /** Replaces all blocks, after a deletion. */
  replace(blocks: readonly Block[]): void {
    this.#blocks = blocks.filter((block) => block.length > 0);
    this.#rows = this.#blocks.reduce((sum, block) => sum + block.length, 0);
  }
}
