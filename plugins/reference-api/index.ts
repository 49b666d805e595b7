import {
  paramContext,
  parseDetectedFields,
  parseDetectedFieldValues,
  parseDetectedLabels,
  parseFormatQuery,
  parseIndexShards,
  parseIndexStats,
  parseInstantQuery,
  parseLabels,
  parseLabelValues,
  parseQueryRange,
  parseSeries,
  parseVolume,
  parseVolumeRange,
  type ParamContext,
} from '../../core/wire/api/params/index.js';
import { browseDefault } from '../../core/cache/label-index/browse-default.js';
import { defineEndpoint, type RouteHandler } from '../../core/plugin/index.js';
import type { ReferenceApiOptions } from '../../core/base/options.gen.js';
import { formatQuery } from './format-query.js';
import { legacyQuery } from './legacy-query.js';

/** The read routes of Loki's API: parses the parameters into a request, which the chain answers. */
export default defineEndpoint<ReferenceApiOptions>({
  name: 'reference-api',
  summary:
    'Read routes of the Loki API: queries, labels, series, index statistics and volumes, detected fields, query formatting.',
  create(_options, host) {
    const browse = browseDefault(host);
    const now = (): ParamContext => ({ ...paramContext(host), hotLimit: browse.limit });
    return {
      routes: new Map<string, RouteHandler>([
        ['query_range', async (call) => call.ask(parseQueryRange(call.params, now()))],
        ['legacy_query', (call) => legacyQuery(call, now())],
        ['query', async (call) => call.ask(parseInstantQuery(call.params, now()))],
        ['labels', async (call) => call.ask(parseLabels(call.params, now()))],
        [
          'label_values',
          async (call) => call.ask(parseLabelValues(call.pathParams.get('name') ?? '', call.params, now())),
        ],
        ['series', async (call) => call.ask(parseSeries(call.params, now()))],
        ['index_stats', async (call) => call.ask(parseIndexStats(call.params, now()))],
        ['volume', async (call) => call.ask(parseVolume(call.params, now()))],
        ['volume_range', async (call) => call.ask(parseVolumeRange(call.params, now()))],
        ['index_shards', async (call) => call.ask(parseIndexShards(call.params, now()))],
        ['detected_labels', async (call) => call.ask(parseDetectedLabels(call.params, now()))],
        ['detected_fields', async (call) => call.ask(parseDetectedFields(call.params, now()))],
        [
          'detected_field_values',
          async (call) =>
            call.ask(parseDetectedFieldValues(call.pathParams.get('name') ?? '', call.params, now())),
        ],
        ['format_query', (call) => formatQuery(call, parseFormatQuery(call.params, now()))],
      ]),
    };
  },
});
