import type { CommandFlag, CommandLine } from '../../kernel/options/index.js';
import type { Io } from '../../program/io.js';
import { readPlainArgs } from '../../program/own-flags.js';
import { giveReport } from '../give-report.js';
import { queriesIn } from '../queries/files.js';
import { spanOf, type Times } from '../queries/filled-queries.js';
import { FlagReader, queryFlags, type QuerySettings } from '../queries/settings.js';
import { resolveVariables } from '../queries/variables.js';
import { Asker, NoAnswerError, type Side } from './ask.js';
import { reportForms, printSummary, type ReportForm } from './report.js';
import { requestsOf } from './requests.js';
import { Summary } from './summary.js';

const flags: readonly CommandFlag[] = [
  { name: 'reference', kind: 'string', description: 'URL of the reference Loki API' },
  {
    name: 'candidate',
    kind: 'string',
    description: 'URL of the candidate Loki API, which is compared with the reference',
  },
  {
    name: 'header',
    kind: 'string',
    description: 'request headers for both sides, `Name: value` separated by ;',
  },
  { name: 'reference-header', kind: 'string', description: 'request headers for the reference only' },
  { name: 'candidate-header', kind: 'string', description: 'request headers for the candidate only' },
  ...queryFlags,
  { name: 'rate', kind: 'string', description: 'requests per second to each side; default 5' },
  { name: 'max-requests', kind: 'string', description: 'maximum number of requests; default 10000' },
  {
    name: 'max-answer-bytes',
    kind: 'string',
    description: 'maximum size of an answer in bytes; default 33554432',
  },
  { name: 'timeout', kind: 'string', description: 'timeout for a request; default 60s' },
  { name: 'format', kind: 'string', description: `${reportForms.join(', ')}; default text` },
  { name: 'output', kind: 'string', description: 'output file of the report; text is still printed' },
];

const about = `
Sends the same read requests to two Loki APIs, and compares the answers value by value. FILE is a Grafana dashboard, a file of alert or
recording rules, provisioned alert rules (JSON or YAML), or a text file with a query, a path, or a record of a query log on each line; or a
directory with such files. Exit status: 0 no difference, 1 differences or requests without an answer, 2 the command line cannot be used.
docs/compare.md explains the report.
`;

/** Number of consecutive failures after which a side is no longer called. */
const maxFailedInARow = 10;

/** `ref-proxy compare`: the same requests to two Loki APIs, compared value by value (docs/compare.md). */
export async function compareCommand(args: readonly string[], io: Io): Promise<number> {
  const usage = 'compare -reference=URL -candidate=URL [flags] FILE...';
  const line = readPlainArgs(args, { usage, flags, about }, io);
  if (line === undefined) return 0;
  const settings = settingsOf(line);
  const found = await queriesIn(line.positionals);
  const summary = new Summary();
  const asker = new Asker(settings.reference, settings.candidate, settings);
  let left = settings.maxRequests;
  let failedInARow = 0;
  let isStopped = false;
  try {
    for (const { file, queries } of found) {
      const values = await resolveVariables(
        queries.variables,
        settings.variables,
        spanOf(settings.endMs, settings.rangesMs[0] ?? 0),
        (label, selector) => asker.labelValues(label, valuesParams(settings, selector)),
      );
      const { requests, notAsked } = requestsOf(queries, values, settings);
      for (const one of notAsked) summary.addNotAsked(one);
      if (queries.skipped > 0)
        io.err(`${file}: ${queries.skipped} queries of other data sources, or repeated ones, are left out\n`);
      for (const request of requests) {
        if (left === 0) {
          summary.addNotAsked({
            query: request,
            reason: `more than ${settings.maxRequests} requests (-max-requests)`,
          });
          continue;
        }
        left -= 1;
        const compared = await asker.compare(request);
        summary.add(compared);
        failedInARow = compared.outcome.kind === 'failed' ? failedInARow + 1 : 0;
        if (failedInARow === maxFailedInARow)
          throw new NoAnswerError(`${maxFailedInARow} requests in a row got no answer`);
      }
    }
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    isStopped = true;
    io.err(`ref-proxy compare: stopped: ${error.message}\n`);
  } finally {
    await asker.close();
  }
  await giveReport((form) => printSummary(summary, form), settings, io);
  const { different, failed } = summary.total;
  return different + failed > 0 || isStopped ? 1 : 0;
}

interface Settings extends QuerySettings {
  readonly reference: Side;
  readonly candidate: Side;
  readonly maxRequests: number;
  readonly maxAnswerBytes: number;
  readonly timeoutMs: number;
  readonly form: ReportForm;
  readonly output: string | undefined;
}

function settingsOf({ own, positionals }: CommandLine): Settings {
  const read = new FlagReader(own);
  const header = /^([^:]+):(.*)$/s;
  const common = read.pairs('header', header);
  const side = (name: 'reference' | 'candidate'): Side => {
    const url = own.get(name) ?? '';
    if (!URL.canParse(url)) read.problems.push(`-${name} must be the URL of a Loki API, not "${url}"`);
    const headers = Object.fromEntries([...common, ...read.pairs(`${name}-header`, header)]);
    return { url: url.replace(/\/+$/, ''), headers };
  };
  read.files(positionals);
  const settings: Settings = {
    reference: side('reference'),
    candidate: side('candidate'),
    ...read.querySettings(),
    maxRequests: read.number('max-requests', 10_000),
    maxAnswerBytes: read.number('max-answer-bytes', 32 * 1024 * 1024),
    timeoutMs: read.duration('timeout', '60s'),
    form: read.oneOf('format', reportForms, 'text'),
    output: own.get('output'),
  };
  read.finish();
  return settings;
}

function valuesParams({ endMs, rangesMs }: Times, selector: string | undefined): URLSearchParams {
  const params = new URLSearchParams({ start: `${endMs - (rangesMs[0] ?? 0)}000000`, end: `${endMs}000000` });
  if (selector !== undefined) params.set('query', selector);
  return params;
}
