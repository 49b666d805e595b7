import { parseQueryRange, type ParamContext } from '../../core/wire/api/params/index.js';
import { Query } from '../../core/wire/api/query.js';
import { encodeLegacySteps } from '../../core/wire/answer/encode-legacy.js';
import { LogqlError, parseSteps, printPlain, type Expr, type LogExpr } from '../../core/logql/index.js';
import { Pacer } from '../../core/base/pace/pacer.js';
import { atPace } from '../../core/base/pace/steps.js';
import { apiError, type Answer, type HttpCall } from '../../core/plugin/index.js';
import { quoteGo } from '../../core/base/time/index.js';

/**
 * `/api/prom/query`: query_range for logs only, with one parameter more (`regexp`) and a shape of its own. The chain is asked for
 * data, so that no bytes of this shape are kept where another route would find them.
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
 * The query with a line filter behind its other stages, unless the pattern is empty. It is read, and refused where it is not of
 * logs, when its tree is asked for, as any query: who may ask is looked at first, and nothing is evaluated in vain.
 */
function logsOnly(query: Query, pattern: string, { dottedNames }: ParamContext): Query {
  // On a line of its own, for the query may end in a comment. The line break also keeps what is refused here apart from
  // the same query of another route, which identical calls in flight would share.
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
    // Read back, as Loki does: a pattern that is none is refused like one in a query.
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

/** What Loki says of a query that it takes elsewhere. */
function refused(problem: string): Error {
  return apiError('badRequest', { text: `rpc error: code = Code(400) desc = ${problem}` });
}
