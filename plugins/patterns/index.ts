import { paramContext, parsePatterns as parseRequest } from '../../core/wire/api/params/index.js';
import type { PatternSearch } from '../../core/wire/api/request.js';
import type { PatternsOptions } from '../../core/base/options.gen.js';
import { errorTable } from '../../core/base/errors/table.js';
import {
  type Answer,
  ApiError,
  askTenant,
  defineEndpoint,
  type Endpoint,
  type Host,
  type HttpCall,
} from '../../core/plugin/index.js';
import { usualPatternSearch } from '../../core/operations/pattern-search.js';
import { readOptionFile } from '../../core/kernel/options/secret-file.js';

const metrics = {
  patterns_last_response_patterns: {
    type: 'gauge',
    help: 'Number of patterns in the latest answer.',
    ofWorkers: 'max',
  },
  patterns_last_response_bytes: {
    type: 'gauge',
    help: 'Size of the latest patterns answer in bytes, as sent.',
    ofWorkers: 'max',
  },
} as const;

/** Endpoint plugin `patterns`: recurring patterns of log lines (docs/protocol/answers.md#patterns). */
export default defineEndpoint<PatternsOptions, typeof metrics>({
  name: 'patterns',
  summary: 'Finds patterns in log lines and counts them over time.',
  metrics,
  create: (options, host) => patternsEndpoint(options, host),
});

function patternsEndpoint(options: PatternsOptions, host: Host<typeof metrics>): Endpoint {
  const { enabled, custom, customFile } = options;
  const { meters } = host;
  let search: PatternSearch = {
    maxRows: options.maxBackendRows,
    secondPassMaxRows: options.secondPassMaxRows,
    secondPassMaxWindows: options.secondPassMaxWindows,
    custom,
  };

  async function answerTo(call: HttpCall): Promise<Answer> {
    if (!enabled) {
      await refuseStrangers(call);
      return { kind: 'patterns', patterns: [], warnings: [] };
    }
    const answer = await call.ask(parseRequest(call.params, paramContext(host, call), search));
    meters.patterns_last_response_patterns.set(countPatterns(answer), {});
    return answer;
  }

  async function readFile(): Promise<void> {
    if (customFile === undefined || customFile === '') return;
    const fromFile = await readPatternFile(customFile);
    search = { ...search, custom: [...new Set([...custom, ...fromFile])] };
  }

  return {
    routes: new Map([['patterns', answerTo]]),
    async start() {
      host.observeRequests({
        started: () => undefined,
        finished: ({ requestType, responseBytes }, status) => {
          if (requestType === 'patterns' && status === 200)
            meters.patterns_last_response_bytes.set(responseBytes, {});
        },
      });
      await readFile();
      if (enabled) host.onStop(usualPatternSearch(host).claim(() => search));
    },
    /** Reads the file again on SIGHUP; if that fails, the old patterns stay. */
    reload: readFile,
  };
}

/** Sends a request through the chain, so that a client without access is rejected even if there is nothing to answer. */
async function refuseStrangers(call: HttpCall): Promise<void> {
  try {
    await askTenant(call);
  } catch (error) {
    // Pattern requests may concern several tenants.
    if (!(error instanceof ApiError) || error.entry !== errorTable.multiTenantUnsupported) throw error;
  }
}

/** Start of a pattern in cached bytes; unambiguous, because quotes in texts are escaped. */
const patternStart = '{"pattern":"';

function countPatterns(answer: Answer): number {
  if (answer.kind === 'patterns') return answer.patterns.length;
  if (answer.kind !== 'encoded') return 0;
  let count = 0;
  for (let at = answer.body.indexOf(patternStart); at >= 0; count += 1)
    at = answer.body.indexOf(patternStart, at + patternStart.length);
  return count;
}

/**
 * Reads patterns from a file: a JSON array of texts, or one pattern per line with empty lines and `#` comments.
 * @throws Error naming the file, if it cannot be read or is invalid
 */
async function readPatternFile(file: string): Promise<readonly string[]> {
  return parsePatternTexts((await readOptionFile('-patterns-custom-file', file)).toString('utf8'), file);
}

/** The distinct patterns of a file's text. */
export function parsePatternTexts(text: string, where: string): readonly string[] {
  return [...new Set(text.trimStart().startsWith('[') ? fromJson(text, where) : fromLines(text))];
}

function fromLines(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function fromJson(text: string, where: string): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // A pattern may start with a bracket; the text is then read as lines.
    if (!text.trimEnd().endsWith(']')) return fromLines(text);
    throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'string'))
    throw new Error(`${where}: must be a JSON array of strings, or one pattern per line`);
  return value.filter((entry) => entry !== '');
}
