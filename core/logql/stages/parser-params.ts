import type { ParserParam } from '../ast.js';
import { quoteGo } from '../../base/time/go-quote.js';
import { stageFault } from '../check/faults.js';
import { append, grammar, token } from '../syntax/tokens.js';
import type { Names } from './stage.js';

/** The parameters of `| json` and `| logfmt`. */
export const params = grammar.nonterminal<ParserParam[]>('parser parameters');

interface WithParams {
  readonly params: readonly ParserParam[];
}

export function addParamRules(): void {
  const { identifier, string, equal, comma } = token;
  const param = grammar.nonterminal<ParserParam>('parser parameter');
  grammar.rule(param)([identifier], ([name], span) => ({ name, path: name, span }));
  grammar.rule(param)([identifier, equal, string], ([name, , path], span) => ({ name, path, span }));
  grammar.rule(params)([param], ([first]) => [first]);
  grammar.rule(params)([params, comma, param], ([list, , next]) => append(list, next));
}

export function printParams(list: readonly ParserParam[]): string {
  const text = list.map(({ name, path }) => `${name}=${quoteGo(path)}`).join(',');
  return text === '' ? '' : ` ${text}`;
}

export function renameParams<S extends WithParams>(stage: S, nameOf: (name: string) => string): S {
  return { ...stage, params: stage.params.map((param) => ({ ...param, name: nameOf(param.name) })) };
}

export function paramChecks(
  { params: list }: WithParams,
  parse: (path: string) => unknown,
): readonly (() => string | undefined)[] {
  return list.map((param) => () => stageFault(() => parse(param.path)));
}

/** Without parameters the labels depend on the line. */
export function paramNames({ params: list }: WithParams): Names {
  return list.length === 0 ? 'all' : list.map(({ name }) => name);
}
