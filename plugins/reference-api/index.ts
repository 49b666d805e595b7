import {
  parseFormatQuery,
  parseIndexStats,
  parseInstantQuery,
  parseLabels,
  parseLabelValues,
  parseQueryRange,
  parseSeries,
  type ParamContext,
} from '../../core/api/params/index.js';
import type { Host } from '../../core/plugin/host.js';
import { defineEndpoint, type RouteHandler } from '../../core/plugin/index.js';
import type { ReferenceApiOptions } from '../../core/options/options.gen.js';
import { formatQuery } from './format-query.js';

/** The read routes of the reference's API: parameters become a request, the chain answers it. */
export default defineEndpoint<ReferenceApiOptions>({
  name: 'reference-api',
  summary: 'Read routes of the Loki API: queries, labels, series, index statistics, query formatting.',
  create(_options, host) {
    const now = (): ParamContext => contextOf(host);
    return {
      routes: new Map<string, RouteHandler>([
        ['query_range', async (call) => call.ask(parseQueryRange(call.params, now()))],
        ['query', async (call) => call.ask(parseInstantQuery(call.params, now()))],
        ['labels', async (call) => call.ask(parseLabels(call.params, now()))],
        [
          'label_values',
          async (call) => call.ask(parseLabelValues(call.pathParams.get('name') ?? '', call.params, now())),
        ],
        ['series', async (call) => call.ask(parseSeries(call.params, now()))],
        ['index_stats', async (call) => call.ask(parseIndexStats(call.params, now()))],
        ['format_query', (call) => formatQuery(call, parseFormatQuery(call.params, now()))],
      ]),
    };
  },
});

function contextOf(host: Pick<Host, 'clock' | 'naming' | 'limits'>): ParamContext {
  const { maxLines, metadataDefaultLookbackMs } = host.limits.process;
  return {
    nowNs: host.clock.nowNs(),
    dottedNames: host.naming.dottedNames,
    hasBrowseExtensions: host.naming.browseExtensions,
    defaultLimit: maxLines,
    metadataLookbackNs: BigInt(Math.round(metadataDefaultLookbackMs)) * 1_000_000n,
  };
}
