import { parseQueryRange, type ParamContext } from '../../core/wire/api/params/index.js';
import { Query } from '../../core/wire/api/query.js';
import { encodeLegacySteps } from '../../core/wire/answer/encode-legacy.js';
import { LogqlError, parseSteps, printPlain, type Expr, type LogExpr } from '../../core/logql/index.js';
import { Pacer } from '../../core/base/pace/pacer.js';
import { atPace } from '../../core/base/pace/steps.js';
import { apiError, type Answer, type HttpCall } from '../../core/plugin/index.js';
import { quoteGo } from '../../core/base/time/index.js';

/**
 * `/api/prom/query`: query_range for logs only, with one more parameter (`regexp`) and an answer shape of its own. It asks the chain for
 * data, so that no cache holds bytes of this shape for another route.
 */
export async function legacyQuery(call: HttpCall, context: ParamContext): Promise<Answer> {
  const request = parseQueryRange(call.params, context);
  const query = logsOnly(request.query, call.params.get('regexp')?.[0] ?? '', context);
  const answer = await call.ask({ ...request, query }, { isFinal: false });
  const { categorizeLabels } = call.caller;
  const steps = encodeLegacySteps(answer, { categorizeLabels, direction: request.direction });
  return atPace(steps, new Pacer(call.signal));
}

/**
 * Adds a line filter after the query's other stages, unless the pattern is empty. Like any query it is parsed, and refused unless it
 * selects logs, only when its tree is used: the caller is authenticated first, and no work is wasted.
 */
function logsOnly(query: Query, pattern: string, { dottedNames }: ParamContext): Query {
  // On a separate line, because the query may end in a comment. The line break also distinguishes a query refused here from the same query
  // on another route, with which it would otherwise share a call.
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
    // Parsed again, as in Loki: an invalid pattern is refused like one in a query.
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

/** Loki's error for a query that it only accepts elsewhere. */
function refused(problem: string): Error {
  return apiError('badRequest', { text: `rpc error: code = Code(400) desc = ${problem}` });
}
