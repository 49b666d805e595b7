import type { CommandFlag } from '../../kernel/options/index.js';
import type { Pipeline } from '../../kernel/pipeline/index.js';
import { systemClock } from '../../kernel/plugin/exchange.js';
import type { Io } from '../../program/io.js';
import { NameLearner } from '../../victoria/names/name-learner.js';
import { giveReport } from '../give-report.js';
import { queriesIn, type QueryFile } from '../queries/files.js';
import { filledQueries, spanOf, type NotAsked } from '../queries/filled-queries.js';
import { FlagReader, queryFlags, type QuerySettings } from '../queries/settings.js';
import { resolveVariables, type LabelValues } from '../queries/variables.js';
import { readPipelineArgs } from '../pipeline-args.js';
import type { AuditedQuery } from './audited.js';
import { Auditor } from './auditor.js';
import { BackendCounts, type CountLimits } from './backend-counts.js';
import { auditForms, printAudit, type AuditForm, type AuditReport } from './report.js';

const flags: readonly CommandFlag[] = [
  ...queryFlags,
  { name: 'org-id', kind: 'string', description: 'X-Scope-OrgID of queries whose file names none' },
  { name: 'rate', kind: 'string', description: 'selections to count per second; default 5' },
  {
    name: 'max-counts',
    kind: 'string',
    description: 'maximum number of selections to count; default 1000',
  },
  { name: 'max-queries', kind: 'string', description: 'maximum number of queries; default 10000' },
  {
    name: 'fail-on',
    kind: 'string',
    description:
      'what ends with exit status 1: parse, refused (includes parse) or advice (all); default refused',
  },
  { name: 'format', kind: 'string', description: `${auditForms.join(', ')}; default text` },
  { name: 'output', kind: 'string', description: 'output file of the report; text is still printed' },
];

const about = `
Explains the queries of files without running them: whether they parse, how they will be answered, and how to write them cheaper. With
-backend it also asks VictoriaLogs how many rows they select. FILE is a Grafana dashboard, a file of rules, a query log, or a text file with
a query on each line; or a directory with such files. The flags of serve count too. Exit status: 0 no findings, 1 queries that do not parse
or are refused, 2 the command line cannot be used. docs/audit.md explains the report.
`;

const failures = ['parse', 'refused', 'advice'] as const;

interface Settings extends QuerySettings, CountLimits {
  readonly tenant: { readonly orgId?: string };
  readonly maxQueries: number;
  readonly failOn: (typeof failures)[number];
  readonly form: AuditForm;
  readonly output: string | undefined;
}

/** `ref-proxy audit`: what a pipeline will do with the queries of files (docs/audit.md). */
export async function auditCommand(args: readonly string[], io: Io): Promise<number> {
  const line = await readPipelineArgs(args, { usage: 'audit [flags] FILE...', flags, about }, io);
  if (line === undefined) return 0;
  const { own, positionals, load } = line;
  const settings = settingsOf(own, positionals);
  const found = await queriesIn(positionals);
  const asksBackend = line.flags.has('backend');
  const pipeline = await load(asksBackend);
  if (pipeline === undefined) return 1;
  const report = await auditFiles(found, pipeline, settings, asksBackend, io);
  await giveReport((form) => printAudit(report, form), settings, io);
  return isFailure(report, settings) ? 1 : 0;
}

function settingsOf(own: ReadonlyMap<string, string>, positionals: readonly string[]): Settings {
  const read = new FlagReader(own);
  read.files(positionals);
  const orgId = own.get('org-id');
  const settings: Settings = {
    ...read.querySettings(),
    tenant: orgId === undefined ? {} : { orgId },
    maxCounts: read.number('max-counts', 1_000),
    maxQueries: read.number('max-queries', 10_000),
    failOn: read.oneOf('fail-on', failures, 'refused'),
    form: read.oneOf('format', auditForms, 'text'),
    output: own.get('output'),
  };
  read.finish();
  return settings;
}

async function auditFiles(
  found: readonly QueryFile[],
  pipeline: Pipeline,
  settings: Settings,
  asksBackend: boolean,
  io: Io,
): Promise<AuditReport> {
  const learner = new NameLearner(systemClock);
  const counts = asksBackend ? await BackendCounts.start(pipeline, learner, settings, io) : undefined;
  const auditor = new Auditor(pipeline, learner, counts);
  const span = spanOf(settings.endMs, settings.rangesMs[0] ?? 0);
  const labelValues: LabelValues = async (label, selector) =>
    counts === undefined ? [`<${label}>`] : counts.labelValues(label, selector, span, settings.tenant);
  const audited: AuditedQuery[] = [];
  const notAudited: NotAsked[] = [];
  try {
    for (const { file, queries } of found) {
      const values = await resolveVariables(queries.variables, settings.variables, span, labelValues);
      for (const query of queries.queries) {
        if (query.path !== undefined) continue;
        const { filled, notAsked } = filledQueries({ ...settings.tenant, ...query }, values, settings);
        notAudited.push(...notAsked);
        for (const one of filled) {
          if (audited.length === settings.maxQueries) {
            const reason = `more than ${settings.maxQueries} queries (-max-queries)`;
            notAudited.push({ query, reason });
            continue;
          }
          const verdict = await auditor.audit(one);
          const { group, at } = query;
          audited.push({ file, group, name: one.name, at, text: one.text, verdict });
        }
      }
    }
  } finally {
    await counts?.close();
  }
  return { audited, notAudited };
}

function isFailure({ audited }: AuditReport, { failOn }: Settings): boolean {
  return audited.some(({ verdict }) => {
    if (verdict.kind === 'unparsed') return true;
    if (verdict.kind === 'refused') return failOn !== 'parse';
    return failOn === 'advice' && verdict.advice.length > 0;
  });
}
