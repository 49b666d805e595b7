import type { Params } from '../../core/wire/api/params/index.js';
import { Query } from '../../core/wire/api/request.js';
import { apiError } from '../../core/base/errors/table.js';
import { checkStages, LogqlError, printPlain, printQuery } from '../../core/logql/index.js';
import { namesTexts, type QueryExplanation } from '../../core/engine/plan/explain/explain.js';
import { explainerOfPipeline } from '../../core/engine/plan/explain/of-pipeline.js';
import { adviceOn, type QueryAdvice } from '../../core/engine/advice/rules.js';
import type { Host } from '../../core/plugin/index.js';
import { lineCounts } from './line-counts.js';
import { marksOf, type TextMark } from './marks.js';

/** A way to make a query cheaper; `example` is a text to write, if there is one. */
export interface Hint {
  readonly text: string;
  readonly example?: string;
  /** The whole query as it could be written, and whether its answers are the same. */
  readonly rewrite?: { readonly query: string; readonly answers: 'same' | 'other' };
}

/** The explanation of a query, and for a log query the query that counts its lines by level. */
export interface PageExplanation extends QueryExplanation {
  readonly kind: 'log' | 'metric';
  readonly formatted: string;
  readonly namesText: string;
  /** The histogram query that Grafana sends with a log query, one interval per bar. */
  readonly histogram?: string;
  /** The texts that the line filters of a log query search for. */
  readonly marks: readonly TextMark[];
  readonly hints: readonly Hint[];
}

/**
 * Explains `query` as the pipeline executes it for a tenant; `step` (whole seconds) is the interval of the histogram's bars. Does not call
 * the backend.
 * @throws LogqlError with Loki's text for a query it rejects
 */
export async function explainForPage(
  params: Params,
  host: Pick<Host, 'naming' | 'learner' | 'describePipeline'>,
  tenantId: string | undefined,
): Promise<PageExplanation> {
  const step = params.get('step')?.[0] ?? '60';
  if (!/^[1-9]\d{0,8}$/.test(step))
    throw apiError('badRequest', { text: 'step must be a number of seconds' });
  const query = new Query(params.get('query')?.[0] ?? '', host.naming.dottedNames);
  const explain = await explainerOfPipeline(host, tenantId);
  const explanation = explain(query);
  const { ast } = query;
  const advice = adviceOn(ast, { explanation, explain: (expr) => explain(query.withAst(expr)) });
  const shared = {
    ...explanation,
    formatted: printQuery(ast),
    namesText: namesTexts[explanation.names],
    hints: advice.map(hintOf),
    marks: ast.kind === 'log' ? marksOf(ast) : [],
  };
  if (ast.kind !== 'log') return { ...shared, kind: 'metric' };
  // As Grafana's Explore sends it.
  const counts = lineCounts(ast, ['level', 'detected_level'], BigInt(step) * 1_000_000_000n);
  const histogram = printPlain(counts);
  return { ...shared, kind: 'log', histogram };
}

function hintOf({ text, example, rewritten, rule }: QueryAdvice): Hint {
  if (rewritten === undefined) return example === undefined ? { text } : { text, example };
  const query = printPlain(rewritten);
  return { text, example: query, rewrite: { query, answers: rule.answers ?? 'other' } };
}

/** The error in a query that is being written, with the server's text; none for a valid query. */
export function checkForPage(params: Params, host: Pick<Host, 'naming'>): { readonly error?: string } {
  try {
    checkStages(new Query(params.get('query')?.[0] ?? '', host.naming.dottedNames).ast);
    return {};
  } catch (error) {
    if (error instanceof LogqlError) return { error: error.message };
    throw error;
  }
}
