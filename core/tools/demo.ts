interface DemoAddresses {
  readonly proxyUrl: string;
  readonly adminUrl: string;
  readonly backendUrl: string;
}

/** The welcome text of `npm run demo`: all addresses, and three things to try next, which tell one story (plugins/demo-data). */
export function demoWelcome({ proxyUrl, adminUrl, backendUrl }: DemoAddresses, pipelineFile: string): string {
  const api = `${proxyUrl}/loki/api/v1`;
  const errors =
    'sum by (service_name) (count_over_time({service_name=~".+"} | detected_level="error" [5m]))';
  const cause = '{service_name="payments"} |~ "deployment|configuration|rollback"';
  const failed = '{service_name="checkout"} | logfmt | level="error"';
  return [
    '',
    `ref-proxy   ${proxyUrl}   (Loki's API; add it to Grafana as a Loki data source)`,
    `page        ${adminUrl}/ui   (the pipeline and a query editor, for a browser)`,
    `backend     ${backendUrl}   (embedded, speaks VictoriaLogs' protocol)`,
    '',
    'The logs are those of a shop. Half an hour ago it failed for some minutes. Three things to try next:',
    '  1. See when: errors of each service, every 5 minutes of the last hour',
    `     curl -sG ${api}/query_range --data-urlencode 'query=${errors}' -d since=1h -d step=5m`,
    `     or as a chart: ${pageUrl(adminUrl, errors)}`,
    '  2. See what failed, and follow one trace_id through the services',
    `     curl -sG ${api}/query_range --data-urlencode 'query=${failed}' -d since=1h -d limit=5`,
    '  3. Find the cause: what happened to payments just before',
    `     curl -sG ${api}/query_range --data-urlencode 'query=${cause}' -d since=1h -d direction=forward`,
    '',
    `The pipeline is ${pipelineFile}. Stop with Ctrl-C.`,
    '',
  ].join('\n');
}

/** The URL of the page with a query filled in. */
function pageUrl(adminUrl: string, query: string): string {
  return `${adminUrl}/ui#${new URLSearchParams({ query }).toString()}`;
}
