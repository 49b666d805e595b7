import { parsePatterns as parseRequest, paramContext } from '../../core/wire/api/params/index.js';
import type { PatternSearch } from '../../core/wire/api/discovery-request.js';
import type { PatternsOptions } from '../../core/base/options.gen.js';
import {
  defineEndpoint,
  type Answer,
  type Endpoint,
  type Host,
  type HttpCall,
  type RouteHandler,
} from '../../core/plugin/index.js';
import { readPatternFile } from './custom-patterns.js';

/** Recurring shapes of log lines (docs/protocol/answers.md#patterns). */
export default defineEndpoint<PatternsOptions>({
  name: 'patterns',
  summary: 'Recurring shapes of log lines, counted over time.',
  create: (options, host) => new Patterns(options, host),
});

class Patterns implements Endpoint {
  readonly routes: ReadonlyMap<string, RouteHandler> = new Map([
    ['patterns', (call: HttpCall) => this.#answer(call)],
  ]);
  readonly #options: PatternsOptions;
  readonly #host: Host;
  #search: PatternSearch;

  constructor(options: PatternsOptions, host: Host) {
    this.#options = options;
    this.#host = host;
    this.#search = {
      maxRows: options.maxBackendRows,
      secondPassMaxRows: options.secondPassMaxRows,
      secondPassMaxWindows: options.secondPassMaxWindows,
      custom: options.custom,
    };
  }

  async start(): Promise<void> {
    await this.#readFile();
  }

  /** SIGHUP reads the file again; when that fails, the old patterns stay. */
  async reload(): Promise<void> {
    await this.#readFile();
  }

  #answer(call: HttpCall): Promise<Answer> {
    if (!this.#options.enabled) return Promise.resolve({ kind: 'patterns', patterns: [], warnings: [] });
    return call.ask(parseRequest(call.params, paramContext(this.#host), this.#search));
  }

  async #readFile(): Promise<void> {
    const { customFile, custom } = this.#options;
    if (customFile === undefined || customFile === '') return;
    const fromFile = await readPatternFile(customFile);
    this.#search = { ...this.#search, custom: [...new Set([...custom, ...fromFile])] };
  }
}
