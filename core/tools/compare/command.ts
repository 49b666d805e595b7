import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseDuration } from '../../base/time/option-duration.js';
import { UsageError, type CommandFlag } from '../../kernel/options/index.js';
import type { Io } from '../../program/io.js';
import { plainHelp, readPlainArgs, type PlainArgs } from '../../program/own-flags.js';
import { Asker, NoAnswerError, type Side } from './ask.js';
import { filesIn, readQueries } from './files.js';
import type { FoundQueries } from './found-query.js';
import { reportForms, printSummary, type ReportForm } from './report.js';
import { requestsOf, spanOf, type Times } from './requests.js';
import { Summary } from './summary.js';
import { resolveVariables } from './variables.js';

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
  {
    name: 'range',
    kind: 'string',
    description: 'lengths of the time ranges, separated by commas; default 1h',
  },
  {
    name: 'until',
    kind: 'string',
    description: 'end of all ranges, as RFC 3339 or Unix seconds; default five minutes ago',
  },
  {
    name: 'variable',
    kind: 'string',
    description: 'values of dashboard variables, `name=value` separated by ;',
  },
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
const defaultAgoMs = 5 * 60_000;

/** `ref-proxy compare`: the same requests to two Loki APIs, compared value by value (docs/compare.md). */
export async function compareCommand(args: readonly string[], io: Io): Promise<number> {
  const plain = readPlainArgs(args, flags);
  if (plain.wantsHelp) {
    io.out(plainHelp('compare -reference=URL -candidate=URL [flags] FILE...', flags) + about);
    return 0;
  }
  const settings = settingsOf(plain);
  const found: { readonly file: string; readonly queries: FoundQueries }[] = [];
  for (const file of await filesIn(plain.positionals)) found.push({ file, queries: await readQueries(file) });
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
  await writeReport(summary, settings, io);
  const { different, failed } = summary.total;
  return different + failed > 0 || isStopped ? 1 : 0;
}

interface Settings extends Times {
  readonly reference: Side;
  readonly candidate: Side;
  readonly variables: ReadonlyMap<string, string>;
  readonly rate: number;
  readonly maxRequests: number;
  readonly maxAnswerBytes: number;
  readonly timeoutMs: number;
  readonly form: ReportForm;
  readonly output: string | undefined;
}

function settingsOf({ values, positionals }: PlainArgs): Settings {
  const problems: string[] = [];
  const number = (name: string, fallback: number): number => {
    const value = Number(values.get(name) ?? fallback);
    if (!(value > 0)) problems.push(`-${name} must be a number above 0, not "${values.get(name) ?? ''}"`);
    return value;
  };
  const duration = (name: string, text: string): number => {
    const ms = parseDuration(text, 'long');
    if (ms === undefined || ms === 0) problems.push(`-${name} must be a duration such as 1h, not "${text}"`);
    return ms ?? 0;
  };
  const pairs = (name: string, separator: RegExp): readonly (readonly [string, string])[] =>
    (values.get(name) ?? '').split(';').flatMap((text) => {
      if (text.trim() === '') return [];
      const [, key = '', value = ''] = separator.exec(text) ?? [];
      if (key === '') problems.push(`-${name} has an invalid part: "${text.trim()}"`);
      return [[key.trim(), value.trim()] as const];
    });
  const header = /^([^:]+):(.*)$/s;
  const common = pairs('header', header);
  const side = (name: 'reference' | 'candidate'): Side => {
    const url = values.get(name) ?? '';
    if (!URL.canParse(url)) problems.push(`-${name} must be the URL of a Loki API, not "${url}"`);
    const headers = Object.fromEntries([...common, ...pairs(`${name}-header`, header)]);
    return { url: url.replace(/\/+$/, ''), headers };
  };
  const form = values.get('format') ?? 'text';
  if (!isForm(form)) problems.push(`-format must be one of ${reportForms.join(', ')}, not "${form}"`);
  if (positionals.length === 0)
    problems.push('name files with queries: dashboards, rules, query logs or text');
  const settings: Settings = {
    reference: side('reference'),
    candidate: side('candidate'),
    variables: new Map(pairs('variable', /^([^=]+)=(.*)$/s)),
    endMs: timeOf(values.get('until'), problems),
    rangesMs: (values.get('range') ?? '1h').split(',').map((text) => duration('range', text.trim())),
    rate: number('rate', 5),
    maxRequests: number('max-requests', 10_000),
    maxAnswerBytes: number('max-answer-bytes', 32 * 1024 * 1024),
    timeoutMs: duration('timeout', values.get('timeout') ?? '60s'),
    form: isForm(form) ? form : 'text',
    output: values.get('output'),
  };
  if (problems.length > 0) throw new UsageError(problems);
  return settings;
}

function isForm(name: string): name is ReportForm {
  return reportForms.some((form) => form === name);
}

function timeOf(text: string | undefined, problems: string[]): number {
  if (text === undefined) return Date.now() - defaultAgoMs;
  const ms = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  if (Number.isNaN(ms)) problems.push(`-until must be a time, not "${text}"`);
  return ms;
}

function valuesParams({ endMs, rangesMs }: Times, selector: string | undefined): URLSearchParams {
  const params = new URLSearchParams({ start: `${endMs - (rangesMs[0] ?? 0)}000000`, end: `${endMs}000000` });
  if (selector !== undefined) params.set('query', selector);
  return params;
}

async function writeReport(summary: Summary, { form, output }: Settings, io: Io): Promise<void> {
  const report = printSummary(summary, form);
  if (output === undefined) {
    io.out(report);
    return;
  }
  await mkdir(dirname(output), { recursive: true });
  await writeFile(output, report);
  io.out(printSummary(summary, 'text'));
}
