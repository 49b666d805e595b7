import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isMissing } from '../../core/base/errors/system-error.js';
import type { Logger } from '../../core/plugin/index.js';
import { printDeletions, readDeletions, type KnownDeletions } from './notices.js';

/** The file that tells the next process which deletions are running, even after a crash. */
export class DeletionsFile {
  readonly #path: string;
  readonly #log: Logger;
  #work: Promise<void> = Promise.resolve();

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  /** Reads the file; undefined if it does not exist, `unusable` if its contents cannot be read. */
  async read(): Promise<KnownDeletions | 'unusable' | undefined> {
    try {
      return readDeletions(await readFile(this.#path, 'utf8'));
    } catch (error) {
      if (isMissing(error)) return undefined;
      this.#log.warn('cannot read the file of running deletions, so caches are flushed', {
        'file.path': this.#path,
        error,
      });
      return 'unusable';
    }
  }

  /** Resolves when the file is on disk, or when writing has failed. */
  write(known: () => KnownDeletions): Promise<void> {
    this.#work = this.#work.then(async () => {
      try {
        await this.#replace(printDeletions(known()));
      } catch (error) {
        this.#log.error(
          'cannot write the file of running deletions: after a crash, caches may show deleted logs',
          {
            'file.path': this.#path,
            error,
          },
        );
      }
    });
    return this.#work;
  }

  async #replace(text: string): Promise<void> {
    const temporary = `${this.#path}.tmp`;
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, this.#path);
    const folder = await open(dirname(this.#path), 'r');
    await folder.sync().finally(() => folder.close());
  }
}
