import type { TranslateOptions } from '../../../base/options.gen.js';
import type { Pipeline } from '../../../kernel/pipeline/index.js';
import type { Filters } from '../../../logql/index.js';
import type { Query } from '../../../wire/api/request.js';
import type { Host } from '../../../kernel/plugin/host.js';
import type { PlanSettings } from '../checked-request.js';
import type { Pushdown } from '../rules/rule.js';
import { explainQuery, type QueryExplanation } from './explain.js';

type ExplainHost = Pick<Host, 'naming' | 'learner' | 'describePipeline'>;

/**
 * Explains queries as the running pipeline executes them: with its options, and with the stored names that earlier queries have learned.
 * The function throws a LogqlError with Loki's text for a query it rejects.
 */
export async function explainerOfPipeline(
  { naming, learner, describePipeline }: ExplainHost,
  tenantId: string | undefined,
): Promise<(query: Query) => QueryExplanation> {
  const { stages } = await describePipeline();
  const translate = stages.find(({ name }) => name === 'translate');
  const valueOf = (name: string): unknown => translate?.options.find(({ key }) => key === name)?.value;
  const pushdown: Pushdown = valueOf('pushdown') === 'off' ? 'off' : 'on';
  const filters: Filters = valueOf('filters') === 'exact' ? 'exact' : 'loki';
  const names = tenantId === undefined ? naming : naming.forTenant({ id: tenantId });
  return (query) =>
    explainQuery(query, names, {
      pushdown,
      filters,
      recall: (filter) => learner.recall(filter, tenantId),
    });
}

/** The options of a loaded pipeline file that decide how a query is planned. */
export function planSettingsOf({ stages, limits: { approxTopk } }: Pipeline): PlanSettings {
  const translate = stages.find(({ plugin }) => plugin.name === 'translate');
  // Options of a loaded plugin are valid against its schema, from which the type is generated.
  return translate === undefined
    ? { approxTopk }
    : { ...(translate.options as TranslateOptions), approxTopk };
}
