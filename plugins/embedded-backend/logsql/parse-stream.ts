import type { StreamFilter, StreamMatcher } from '../../../core/victoria/logsql/ast.js';
import type { Lexer } from './lexer.js';
import { checkedRegExp, readArguments, readCompound, wrap } from './parse-tokens.js';

const nameEnds = ['=', '!=', '=~', '!~', ',', '{', '}', '(', ')', '|', ''];
const valueEnds = [',', '{', '}', '(', ')', '|', ''];

/** Reads a stream selector `{a="b",c=~"d" or e in ("f")}`. */
export function readStreamFilter(lexer: Lexer): StreamFilter {
  lexer.next();
  const groups: StreamMatcher[][] = [];
  for (;;) {
    groups.push(readGroup(lexer));
    if (lexer.accept('}')) return { kind: 'stream', groups };
    lexer.next();
    if (lexer.is('}')) throw lexer.fail("unexpected '}' after 'or' in _stream filter");
  }
}

function readGroup(lexer: Lexer): StreamMatcher[] {
  const matchers: StreamMatcher[] = [];
  while (!lexer.is('}')) {
    const matcher = readMatcher(lexer);
    matchers.push(matcher);
    if (lexer.is('or', '}')) break;
    if (lexer.accept(',', 'and')) continue;
    const seen =
      matcher.kind === 'value'
        ? `${matcher.label}${matcher.op}${JSON.stringify(matcher.value)}`
        : matcher.label;
    throw lexer.fail(
      `unexpected token ${JSON.stringify(lexer.token)} in _stream filter after ${JSON.stringify(seen)}; want 'or', 'and', '}' or ','`,
    );
  }
  return matchers;
}

function readMatcher(lexer: Lexer): StreamMatcher {
  const label = wrap('cannot parse stream tag name inside {...}', () => readCompound(lexer, nameEnds));
  const op = lexer.quoted ? '' : lexer.token.toLowerCase();
  if (op === 'in' || op === 'not_in') {
    lexer.next();
    const values = wrap(`cannot read ${op}() args inside {...}`, () => readArguments(lexer));
    if (values.length === 1 && values[0] === '*')
      return { kind: 'value', label, op: op === 'in' ? '=~' : '!~', value: '.*' };
    return { kind: 'list', label, op, values: [...new Set(values)] };
  }
  if (op !== '=' && op !== '!=' && op !== '=~' && op !== '!~') {
    throw lexer.fail(
      `unsupported operation ${JSON.stringify(lexer.token)} inside {...} for ${JSON.stringify(label)} field; ` +
        'supported operations: =, !=, =~, !~, in, not_in',
    );
  }
  lexer.next();
  const value = wrap(`cannot parse value for tag ${JSON.stringify(label)} inside {...}`, () =>
    readCompound(lexer, valueEnds),
  );
  if (op === '=~' || op === '!~') {
    const prefix = `invalid regexp ${JSON.stringify(value)} for ${JSON.stringify(label)} inside {...}`;
    checkedRegExp(lexer, value, prefix, { anchored: true });
  }
  return { kind: 'value', label, op, value };
}
