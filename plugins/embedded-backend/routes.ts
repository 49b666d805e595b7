import { controlFaults, controlStats } from './endpoints/control.js';
import { activeDeleteTasks, runDeleteTask, stopDeleteTask } from './endpoints/delete.js';
import { hits } from './endpoints/hits.js';
import { buildInfo, health, metrics, ping, ready, tenantIds } from './endpoints/info.js';
import { insertElasticsearch, insertJsonLine, insertLoki } from './endpoints/insert.js';
import {
  facets,
  fieldNames,
  fieldValues,
  streamFieldNames,
  streamFieldValues,
  streamIds,
  streams,
} from './endpoints/meta.js';
import { queryRows } from './endpoints/query.js';
import { queryTimeRange } from './endpoints/query-time-range.js';
import { statsQuery, statsQueryRange } from './endpoints/stats.js';
import { tail } from './endpoints/tail.js';
import type { Handler } from './http/context.js';

const ROUTES: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['/select/logsql/query', queryRows],
  ['/select/logsql/hits', hits],
  ['/select/logsql/facets', facets],
  ['/select/logsql/stats_query', statsQuery],
  ['/select/logsql/stats_query_range', statsQueryRange],
  ['/select/logsql/streams', streams],
  ['/select/logsql/stream_ids', streamIds],
  ['/select/logsql/stream_field_names', streamFieldNames],
  ['/select/logsql/stream_field_values', streamFieldValues],
  ['/select/logsql/field_names', fieldNames],
  ['/select/logsql/field_values', fieldValues],
  ['/select/logsql/query_time_range', queryTimeRange],
  ['/select/logsql/tail', tail],
  ['/select/tenant_ids', tenantIds],
  ['/select/buildinfo', buildInfo],
  ['/delete/run_task', runDeleteTask],
  ['/delete/active_tasks', activeDeleteTasks],
  ['/delete/stop_task', stopDeleteTask],
  ['/insert/jsonline', insertJsonLine],
  ['/insert/elasticsearch/_bulk', insertElasticsearch],
  ['/insert/loki/api/v1/push', insertLoki],
  ['/insert/loki/ready', ready],
  ['/health', health],
  ['/-/healthy', health],
  ['/ping', ping],
  ['/metrics', metrics],
  ['/-/stats', controlStats],
  ['/-/faults', controlFaults],
]);

/** The endpoint of a path; undefined leads to 400 `unsupported path requested`. */
export function handlerFor(path: string): Handler | undefined {
  return ROUTES.get(path);
}
