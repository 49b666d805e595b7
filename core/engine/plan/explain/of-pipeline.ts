import type { Query } from '../../../wire/api/query.js';
import type { Host } from '../../../kernel/plugin/host.js';
import type { Pushdown } from '../rules/query/off.js';
import { explainQuery, type Explanation } from './explain.js';

/**
 * Explains a query as the running pipeline runs it: with its `pushdown`, and with the stored names that queries have learned.
 * @throws LogqlError with Loki's text for a query it refuses
 */
export async function explainOfPipeline(
  query: Query,
  { naming, learner, describePipeline }: Pick<Host, 'naming' | 'learner' | 'describePipeline'>,
  tenantId: string | undefined,
): Promise<Explanation> {
  const { stages } = await describePipeline();
  const translate = stages.find(({ name }) => name === 'translate');
  const option = translate?.options.find(({ key }) => key === 'pushdown');
  const pushdown: Pushdown = option?.value === 'off' ? 'off' : 'on';
  const names = tenantId === undefined ? naming : naming.forTenant(tenantId);
  return explainQuery(query, names, { pushdown, recall: (filter) => learner.recall(filter, tenantId) });
}
