import { join } from 'node:path';
import { Query } from '../wire/api/query.js';
import { ApiError } from '../base/errors/api-error.js';
import { LogqlError } from '../logql/index.js';
import { Naming } from '../victoria/names/naming.js';
import {
  builtInDefinitions,
  FlagIndex,
  packageRoot,
  parseCommandLine,
  UsageError,
  type CommandFlag,
} from '../kernel/options/index.js';
import type { TranslateOptions } from '../base/options.gen.js';
import { loadPipeline, type Pipeline } from '../kernel/pipeline/index.js';
import { explainQuery } from '../engine/plan/explain/explain.js';
import { printExplanation } from '../engine/plan/explain/print.js';
import { printFindings } from './findings.js';
import type { Io } from './io.js';
import { plainHelp } from './own-flags.js';
import { siteDefinitions } from './site-flags.js';

const flags: readonly CommandFlag[] = [
  { name: 'json', kind: 'boolean', description: 'print JSON instead of text' },
  { name: 'pipeline', kind: 'string', description: 'pipeline file whose names and options count' },
  { name: 'help', kind: 'boolean', description: 'show this text' },
];

/** Prints how a pipeline answers a query: tree, LogsQL, what is evaluated where and why, and the cost. */
export async function explain(args: readonly string[], io: Io): Promise<number> {
  const builtIns = builtInDefinitions();
  const named = parseCommandLine(args, new FlagIndex(builtIns), flags).own.get('pipeline');
  const file = named ?? join(packageRoot(), 'pipelines', 'reference-compatible.yaml');
  const index = new FlagIndex([...builtIns, ...(await siteDefinitions(file))]);
  const { own, positionals, problems, flags: given } = parseCommandLine(args, index, flags);
  if (own.get('help') === 'true') {
    io.out(`${plainHelp("explain [flags] 'QUERY'", flags.slice(0, -1))}The flags of serve count too.\n`);
    return 0;
  }
  if (problems.length > 0) throw new UsageError(problems);
  const [text, ...others] = positionals;
  if (text === undefined || others.length > 0) throw new UsageError(['explain takes one query, in quotes']);
  const { pipeline, findings } = await loadPipeline(file, { flags: given, env: io.env });
  if (pipeline === undefined) {
    await printFindings(findings, io);
    return 1;
  }
  return print(text, pipeline, own.get('json') === 'true', io);
}

function print(text: string, pipeline: Pipeline, isJson: boolean, io: Io): number {
  try {
    const naming = new Naming(pipeline.names);
    const query = new Query(text, naming.dottedNames);
    const explanation = explainQuery(query, naming, translateOptions(pipeline));
    io.out(isJson ? `${JSON.stringify(explanation, undefined, 2)}\n` : printExplanation(explanation));
    return 0;
  } catch (error) {
    if (!(error instanceof LogqlError || error instanceof ApiError)) throw error;
    io.err(`${error.message}\n`);
    return 1;
  }
}

function translateOptions({ stages }: Pipeline): Pick<TranslateOptions, 'pushdown'> {
  const translate = stages.find(({ plugin }) => plugin.name === 'translate');
  // Options of a loaded plugin are valid against its schema, from which the type is generated.
  return translate === undefined ? { pushdown: 'on' } : (translate.options as TranslateOptions);
}
