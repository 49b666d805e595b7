import type { Logger } from '../../core/base/logger.js';
import type { BackendClient } from '../../core/victoria/upstream/client.js';
import type { MetricsPage } from '../../core/victoria/upstream/probe.js';

/** The metrics at a URL, whose origin `client` asks. The first time that they cannot be read, and each time after they could, is logged. */
export function metricsPage(
  url: URL,
  client: BackendClient,
  headers: Readonly<Record<string, string>>,
  log: Logger,
): MetricsPage {
  // The rest of the URL may be secret.
  const process = url.origin;
  let hasFailed = false;
  const read = async (signal: AbortSignal): Promise<string> => {
    const answer = await client.call({
      path: url.pathname === '/' ? '/metrics' : url.pathname,
      method: 'GET',
      form: [...url.searchParams],
      headers,
      signal,
      statusRule: 'keep',
      isJson: false,
      isProbe: true,
    });
    const text = await answer.text();
    if (!metricOfVictoriaLogs.test(text)) throw new Error('they are not those of VictoriaLogs');
    return text;
  };
  return {
    process,
    read: async (signal) => {
      try {
        const text = await read(signal);
        hasFailed = false;
        return text;
      } catch (error) {
        if (!hasFailed) log.warn(`the metrics of ${process} cannot be read`, { error });
        hasFailed = true;
        throw error;
      }
    },
  };
}

const metricOfVictoriaLogs = /^(?:vl_|vm_app_version)/m;
