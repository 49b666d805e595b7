import type { Filters } from '../../../logql/index.js';
import type { Query } from '../../../wire/api/query.js';
import type { Host } from '../../../kernel/plugin/host.js';
import type { Pushdown } from '../rules/query.js';
import { explainQuery, type QueryExplanation } from './explain.js';

/**
 * Explains a query as the running pipeline executes it: with its options, and with the stored names that earlier queries have learned.
 * @throws LogqlError with Loki's text for a query it rejects
 */
export async function explainOfPipeline(
  query: Query,
  { naming, learner, describePipeline }: Pick<Host, 'naming' | 'learner' | 'describePipeline'>,
  tenantId: string | undefined,
): Promise<QueryExplanation> {
  const { stages } = await describePipeline();
  const translate = stages.find(({ name }) => name === 'translate');
  const valueOf = (name: string): unknown => translate?.options.find(({ key }) => key === name)?.value;
  const pushdown: Pushdown = valueOf('pushdown') === 'off' ? 'off' : 'on';
  const filters: Filters = valueOf('filters') === 'exact' ? 'exact' : 'loki';
  const names = tenantId === undefined ? naming : naming.forTenant({ id: tenantId });
  return explainQuery(query, names, {
    pushdown,
    filters,
    recall: (filter) => learner.recall(filter, tenantId),
  });
}
