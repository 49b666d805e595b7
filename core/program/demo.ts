/** The welcome text of `npm run demo`: where everything listens, and five commands to try. */
export function demoWelcome(
  proxyUrl: string,
  adminUrl: string,
  backendUrl: string,
  pipelineFile: string,
): string {
  const api = `${proxyUrl}/loki/api/v1`;
  const tries: readonly (readonly [string, string])[] = [
    ['label names', `curl -s ${api}/labels`],
    ['values of a label', `curl -s ${api}/label/service_name/values`],
    [
      'newest errors, newest first',
      `curl -sG ${api}/query_range --data-urlencode 'query={service_name=~".+"} |= "error"' -d limit=5`,
    ],
    [
      'the same with metadata apart, as Grafana asks',
      `curl -sG ${api}/query_range -H 'X-Loki-Response-Encoding-Flags: categorize-labels' --data-urlencode 'query={service_name=~".+"} |= "error"' -d limit=5`,
    ],
    [
      "Grafana's health check",
      `curl -sG ${api}/query --data-urlencode 'query=vector(1)+vector(1)' -d time=4000000000`,
    ],
  ];
  const lines = tries.map(([what, command], index) => `  ${index + 1}. ${what}\n     ${command}`);
  return [
    '',
    `ref-proxy   ${proxyUrl}   (Loki's API; add it to Grafana as a Loki data source)`,
    `page        ${adminUrl}/ui   (the pipeline and a query box, for a browser)`,
    `backend     ${backendUrl}   (embedded, speaks VictoriaLogs' protocol)`,
    '',
    'Try:',
    ...lines,
    '',
    `The pipeline is ${pipelineFile}. Stop with Ctrl-C.`,
    '',
  ].join('\n');
}
