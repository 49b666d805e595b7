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
import {
  defineEndpoint,
  type ApiRequest,
  type HttpCall,
  type RouteHandler,
} from '../../core/plugin/index.js';
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
    const contextOf = (call: HttpCall): ParamContext => paramContext(host, call, browse.current);
    const passed =
      (parse: (params: HttpCall['params'], context: ParamContext) => ApiRequest): RouteHandler =>
      async (call) =>
        call.pass(parse(call.params, contextOf(call)));
    return {
      routes: new Map<string, RouteHandler>([
        ['query_range', passed(parseQueryRange)],
        ['legacy_query', (call) => legacyQuery(call, contextOf(call))],
        ['query', passed(parseInstantQuery)],
        ['labels', passed(parseLabels)],
        [
          'label_values',
          async (call) =>
            call.pass(parseLabelValues(call.pathParams.get('name') ?? '', call.params, contextOf(call))),
        ],
        ['series', passed(parseSeries)],
        ['index_stats', passed(parseIndexStats)],
        ['volume', passed(parseVolume)],
        ['volume_range', passed(parseVolumeRange)],
        ['index_shards', passed(parseIndexShards)],
        ['detected_labels', passed(parseDetectedLabels)],
        ['detected_fields', passed(parseDetectedFields)],
        [
          'detected_field_values',
          async (call) =>
            call.pass(
              parseDetectedFieldValues(call.pathParams.get('name') ?? '', call.params, contextOf(call)),
            ),
        ],
        ['format_query', (call) => formatQuery(call, parseFormatQuery(call.params, contextOf(call)))],
      ]),
    };
  },
});
