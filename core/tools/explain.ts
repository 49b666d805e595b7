import { Query } from '../wire/api/request.js';
import { ApiError } from '../base/errors/api-error.js';
import { LogqlError } from '../logql/index.js';
import { Naming } from '../victoria/names/naming.js';
import { withOtlpConfig } from '../victoria/names/otlp-config.js';
import { UsageError, type CommandFlag } from '../kernel/options/index.js';
import type { Pipeline } from '../kernel/pipeline/index.js';
import { explainQuery, type QueryExplanation } from '../engine/plan/explain/explain.js';
import { printExplanation } from '../engine/plan/explain/print.js';
import { planSettingsOf } from '../engine/plan/explain/of-pipeline.js';
import { printRun, type RunReport } from '../engine/plan/explain/run.js';
import { systemClock } from '../kernel/plugin/exchange.js';
import type { LogsqlFilter } from '../victoria/logsql/ast.js';
import { NameLearner, type KnownNames } from '../victoria/names/name-learner.js';
import { runFlags, strayRunFlags } from './explain-flags.js';
import type { SiteQueries } from './explain-site.js';
import type { Io } from '../program/io.js';
import { readPipelineArgs } from './pipeline-args.js';
import { siteStages } from './site-stages.js';

const flags: readonly CommandFlag[] = [
  { name: 'json', kind: 'boolean', description: 'print JSON instead of text' },
  ...runFlags,
];

/**
 * Prints how a pipeline answers a query: the changes made by the stages of a site, tree, LogsQL, where each part is evaluated and why, and
 * the cost. With `-run` the query is also run, and the result is reported.
 */
export async function explain(args: readonly string[], io: Io): Promise<number> {
  const help = { usage: "explain [flags] 'QUERY'", flags, about: 'The flags of serve count too.\n' };
  const line = await readPipelineArgs(args, help, io, strayRunFlags);
  if (line === undefined) return 0;
  const { own, positionals, load } = line;
  const [text, ...others] = positionals;
  if (text === undefined || others.length > 0) throw new UsageError(['explain takes one query, in quotes']);
  const pipeline = await load(own.get('run') === 'true');
  if (pipeline === undefined) return 1;
  try {
    const explained = await explainAndRun(text, pipeline, own, io);
    const print = own.get('json') === 'true' ? printJson : printText;
    io.out(print(explained, text));
    const { explanations, run } = explained;
    return explanations.length > 0 && (run === undefined || run.status === 200) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof LogqlError || error instanceof ApiError)) throw error;
    io.err(`${error.message}\n`);
    return 1;
  }
}

interface Explained {
  readonly site: SiteQueries;
  /** Explanations of all translated queries. */
  readonly explanations: readonly QueryExplanation[];
  /** Set with `-run`. */
  readonly run?: RunReport;
}

async function explainAndRun(
  text: string,
  pipeline: Pipeline,
  own: ReadonlyMap<string, string>,
  io: Io,
): Promise<Explained> {
  const naming = new Naming(withOtlpConfig(pipeline.names, pipeline.limits));
  const query = new Query(text, naming.dottedNames);
  const learner = new NameLearner(systemClock);
  const recall = (filter: LogsqlFilter): KnownNames | undefined => learner.recall(filter, own.get('org-id'));
  const explainNow = (each: Query): QueryExplanation =>
    explainQuery(each, naming, { ...planSettingsOf(pipeline), recall });
  // A rejected query is neither run nor passed to the stages of the site.
  const alone = explainNow(query);
  // Both are only loaded on demand: they need the whole proxy.
  const site =
    siteStages(pipeline.stages).length > 0
      ? await (await import('./explain-site.js')).siteQueries(text, pipeline, own, io)
      : { stages: [], behind: [], queries: [] };
  const queries = site.stages.length === 0 ? [query] : site.queries;
  if (own.get('run') !== 'true')
    return { site, explanations: site.stages.length === 0 ? [alone] : queries.map(explainNow) };
  const { runQuery } = await import('./explain-run.js');
  const run = await runQuery(text, pipeline, own, learner, io);
  return { site, explanations: queries.map(explainNow), run };
}

/** Prints one object for a query; if a stage sends several requests, they are the elements of `queries`. */
function printJson({ site, explanations, run }: Explained, asked: string): string {
  const { stages, behind, answer } = site;
  const [first] = explanations;
  const single = explanations.length === 1 && first !== undefined ? first : { queries: explanations };
  const ofSite = stages.length + behind.length === 0 ? {} : { site: { asked, stages, behind, answer } };
  return `${JSON.stringify({ ...single, ...ofSite, run }, undefined, 2)}\n`;
}

function printText({ site, explanations, run }: Explained, asked: string): string {
  const reads = explanations.flatMap((each) => each.reads);
  return [
    ...siteText(site, asked),
    ...explanations.map(printExplanation),
    ...(run === undefined ? [] : [printRun(run, reads)]),
  ].join('\n');
}

function siteText({ stages, behind, answer }: SiteQueries, asked: string): readonly string[] {
  const lines = [
    ...(stages.length === 0 ? [] : [`asked   ${asked}`, `stages  ${stages.join(', ')}`]),
    ...(behind.length === 0 ? [] : [`not run ${behind.join(', ')}: behind translate`]),
    ...(answer === undefined ? [] : [`answer  ${answer}`]),
  ];
  return lines.length === 0 ? [] : [`${lines.join('\n')}\n`];
}
