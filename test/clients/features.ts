import { alerting } from './alerting.js';
import { canary } from './canary.js';
import { drilldownFields } from './drilldown-fields.js';
import { drilldown } from './drilldown.js';
import { errors } from './errors.js';
import { everyClient } from './every-client.js';
import { explore } from './explore.js';
import type { Feature } from './feature.js';
import { grafanaLabels, grafanaVariables } from './grafana-labels.js';
import { grafanaQueries } from './grafana-queries.js';
import { infrastructure } from './infrastructure.js';
import { logcliLive } from './logcli-live.js';
import { logcli } from './logcli.js';
import { lokitool } from './lokitool.js';
import { otel } from './otel.js';

/** All tested features by client, in the order of the table. */
export const features: readonly Feature[] = [
  ...everyClient,
  ...errors,
  ...grafanaQueries,
  ...grafanaLabels,
  ...explore,
  ...grafanaVariables,
  ...alerting,
  ...drilldown,
  ...drilldownFields,
  ...otel,
  ...infrastructure,
  ...logcli,
  ...logcliLive,
  ...canary,
  ...lokitool,
];
