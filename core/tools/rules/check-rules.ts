import { compareAnswers, hasData, parsedBody, type Answered } from '../../comparison/answers.js';
import { differenceText } from '../../comparison/difference.js';
import type { Pipeline } from '../../kernel/pipeline/index.js';
import type { LogsqlQuery } from '../../victoria/logsql/ast.js';
import { startProxy } from '../../program/start-proxy.js';
import type { Io } from '../../program/io.js';
import { onlyQueries, toErrors } from '../explain-run.js';
import type { ConvertedFile, ConvertedRule } from './convert-rules.js';
import type { TenantJobs } from './tenant-jobs.js';

export interface CheckSettings {
  /** The times of evaluation, in Unix seconds. */
  readonly times: readonly number[];
}

/** Both forms of a rule, evaluated at several times. */
export interface CheckedRule {
  readonly group: string;
  readonly name: string;
  /** Times at which both forms give the same series. */
  readonly equal: number;
  /** Times among those at which there are any series. */
  readonly withSeries: number;
  readonly differences: readonly RuleDifference[];
}

interface RuleDifference {
  readonly seconds: number;
  readonly text: string;
}

/** Maximum number of differences shown for a rule. */
const toldDifferences = 5;
/** Longest time before the evaluation for which a rule may read rows; the backend is not asked about older ones. */
const marginNs = 60_000_000_000n;

/** Evaluates both forms of each converted rule: LogQL by the pipeline, and LogsQL by its backend, as two vmalert processes would. */
export async function checkRules(
  files: readonly ConvertedFile[],
  pipeline: Pipeline,
  jobs: TenantJobs,
  { times }: CheckSettings,
  io: Io,
): Promise<readonly CheckedRule[]> {
  // Limits of rates are for clients.
  const stages = pipeline.stages.filter(({ plugin }) => plugin.name !== 'guard');
  const proxy = await startProxy(onlyQueries({ ...pipeline, stages }), { logTo: toErrors(io) });
  try {
    const checked: CheckedRule[] = [];
    for (const { file, groups } of files) {
      for (const { group, rules } of groups) {
        for (const rule of rules) {
          if (rule.logsql === undefined) continue;
          const askBoth = bothForms(rule, rule.logsql, file.tenant, proxy.urls.main, jobs);
          checked.push({ group: group.name, name: rule.rule.name, ...(await compareAt(times, askBoth)) });
        }
      }
    }
    return checked;
  } finally {
    await proxy.close();
  }
}

type AskBoth = (seconds: number) => Promise<readonly [logql: Answered, logsql: Answered]>;

function bothForms(
  { rule }: ConvertedRule,
  logsql: LogsqlQuery,
  tenant: string | undefined,
  url: string,
  jobs: TenantJobs,
): AskBoth {
  return async (seconds) => {
    const parameters = new URLSearchParams({ query: rule.expr, time: String(seconds) });
    const response = await fetch(`${url}/loki/api/v1/query?${parameters.toString()}`, {
      headers: tenant === undefined ? {} : { 'X-Scope-OrgID': tenant },
    });
    const logql = { status: response.status, body: parsedBody(await response.text()) };
    return [logql, await answerOfBackend(logsql, seconds, tenant, jobs)];
  };
}

/** The answer of the backend in the form of Loki's; empty labels are none. */
async function answerOfBackend(
  query: LogsqlQuery,
  seconds: number,
  tenant: string | undefined,
  jobs: TenantJobs,
): Promise<Answered> {
  const timeNs = BigInt(seconds) * 1_000_000_000n;
  const samples = await jobs.run(tenant, async ({ upstream }) => {
    if (upstream === undefined)
      throw new Error('the pipeline has no stage `backend`, which asks VictoriaLogs');
    // The time of evaluation is a nanosecond before the end.
    return upstream.stats({ query, range: { startNs: timeNs - reachOf(query), endNs: timeNs + 1n } });
  });
  const result = samples.map(({ labels, value }) => ({
    metric: Object.fromEntries([...labels].filter(([, text]) => text !== '')),
    value: [seconds, value],
  }));
  return { status: 200, body: { status: 'success', data: { resultType: 'vector', result } } };
}

/** The time before the evaluation in which a query reads rows. */
function reachOf({ filter }: LogsqlQuery): bigint {
  const parts = filter.kind === 'and' ? filter.parts : [filter];
  const windows = parts.map((part) =>
    part.kind === 'time-relative' ? (part.duration ?? 0n) + part.offset : 0n,
  );
  return windows.reduce((most, window) => (window > most ? window : most), 0n) + marginNs;
}

async function compareAt(
  times: readonly number[],
  askBoth: AskBoth,
): Promise<Pick<CheckedRule, 'equal' | 'withSeries' | 'differences'>> {
  let [equal, withSeries] = [0, 0];
  const differences: RuleDifference[] = [];
  for (const seconds of times) {
    const [logql, logsql] = await askBoth(seconds);
    const difference = compareAnswers({ path: '/loki/api/v1/query', params: {} }, logql, logsql);
    if (difference === undefined) {
      equal += 1;
      if (hasData(logql)) withSeries += 1;
    } else if (differences.length < toldDifferences)
      differences.push({ seconds, text: differenceText(difference) });
  }
  return { equal, withSeries, differences };
}
