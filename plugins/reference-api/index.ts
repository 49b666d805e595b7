import * as params from '../../core/wire/api/params/index.js';
import { browseDefault } from '../../core/cache/label-index/label-index.js';
import {
  type Answer,
  apiError,
  type ApiRequest,
  defineEndpoint,
  type HttpCall,
  jsonAnswer,
  type RouteHandler,
} from '../../core/plugin/index.js';
import type { ReferenceApiOptions } from '../../core/base/options.gen.js';
import { type FormatQueryRequest, Query } from '../../core/wire/api/request.js';
import { encodeLegacySteps } from '../../core/wire/answer/encode-legacy.js';
import { type Expr, type LogExpr, LogqlError, parseSteps, printPlain } from '../../core/logql/index.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';
import { quoteGo } from '../../core/base/label-set.js';

/** The read routes of Loki's API: parses the parameters into a request for the chain. */
export default defineEndpoint<ReferenceApiOptions>({
  name: 'reference-api',
  summary:
    'Read routes of the Loki API: queries, labels, series, index statistics and volumes, detected fields, query formatting.',
  create(_options, host) {
    const browse = browseDefault(host);
    const contextOf = (call: HttpCall): params.ParamContext =>
      params.paramContext(host, call, browse.current);
    const passed =
      (parse: (params: HttpCall['params'], context: params.ParamContext) => ApiRequest): RouteHandler =>
      async (call) =>
        call.pass(parse(call.params, contextOf(call)));
    return {
      routes: new Map<string, RouteHandler>([
        ['query_range', passed(params.parseQueryRange)],
        ['legacy_query', (call) => legacyQuery(call, contextOf(call))],
        ['query', passed(params.parseInstantQuery)],
        ['labels', passed(params.parseLabels)],
        [
          'label_values',
          async (call) =>
            call.pass(
              params.parseLabelValues(call.pathParams.get('name') ?? '', call.params, contextOf(call)),
            ),
        ],
        ['series', passed(params.parseSeries)],
        ['index_stats', passed(params.parseIndexStats)],
        ['volume', passed(params.parseVolume)],
        ['volume_range', passed(params.parseVolumeRange)],
        ['index_shards', passed(params.parseIndexShards)],
        ['detected_labels', passed(params.parseDetectedLabels)],
        ['detected_fields', passed(params.parseDetectedFields)],
        [
          'detected_field_values',
          async (call) =>
            call.pass(
              params.parseDetectedFieldValues(
                call.pathParams.get('name') ?? '',
                call.params,
                contextOf(call),
              ),
            ),
        ],
        ['format_query', (call) => formatQuery(call, params.parseFormatQuery(call.params, contextOf(call)))],
      ]),
    };
  },
});

/**
 * Sends a request for a formatted query down the chain; a query that cannot be parsed gets Loki's own failure body instead of the error
 * body.
 */
async function formatQuery(call: HttpCall, request: FormatQueryRequest): Promise<Answer> {
  try {
    return await call.ask(request);
  } catch (error) {
    if (!(error instanceof LogqlError)) throw error;
    const body = { status: 'invalid-query', error: error.message };
    return { ...jsonAnswer(body), status: 400, refusal: error };
  }
}

/**
 * `/api/prom/query`: query_range for logs only, with one more parameter (`regexp`) and a format of its own. It requests data from the
 * chain, so that no cache stores bytes of this format for another route.
 */
async function legacyQuery(call: HttpCall, context: params.ParamContext): Promise<Answer> {
  const request = params.parseQueryRange(call.params, context);
  const query = logsOnly(request.query, call.params.get('regexp')?.[0] ?? '', context);
  const answer = await call.ask({ ...request, query }, { isFinal: false });
  const { categorizeLabels } = call.caller;
  const steps = encodeLegacySteps(answer, { categorizeLabels, direction: request.direction });
  return atPace(steps, new Pacer(call.signal));
}

/**
 * Adds a line filter after the query's other stages, unless the pattern is empty. Like any query, it is only parsed, and rejected unless it
 * selects logs, when its tree is used: the caller is authenticated first, and no work is wasted.
 */
function logsOnly(query: Query, pattern: string, { dottedNames }: params.ParamContext): Query {
  // On a separate line, because the query may end in a comment. The line break also distinguishes a query rejected here from the same query
  // on another route, which would otherwise share its call.
  const text = `${query.text}\n${pattern === '' ? '' : `|~ ${quoteGo(pattern)}`}`;
  return new Query(text, dottedNames, function* () {
    if (pattern === '') return requireLogs(query.ast, 'legacy endpoints only support streams result type');
    const ast = requireLogs(treeOf(query), 'only log selector is supported');
    const { span } = ast;
    const filter = {
      kind: 'line-filter',
      op: '|~',
      alternatives: [{ kind: 'text', value: pattern, span }],
      span,
    } as const;
    // Parsed again, as in Loki: an invalid pattern is rejected like one in a query.
    return yield* parseSteps(printPlain({ ...ast, stages: [...ast.stages, filter] }), { dottedNames });
  });
}

function requireLogs(ast: Expr, problem: string): LogExpr {
  if (ast.kind !== 'log') throw refused(problem);
  return ast;
}

function treeOf(query: Query): Expr {
  try {
    return query.ast;
  } catch (error) {
    throw error instanceof LogqlError ? refused(error.message) : error;
  }
}

/** Loki's error for a query that only other endpoints accept. */
function refused(problem: string): Error {
  return apiError('badRequest', { text: `rpc error: code = Code(400) desc = ${problem}` });
}
