import test from 'ava';
import {
  and,
  matcher,
  not,
  or,
  streamList,
  streamMatch,
  substring,
} from '../../../../core/victoria/logsql/build.js';
import { printFilter } from '../../../../core/victoria/logsql/print.js';

const selector = streamMatch(matcher('env', '=', 'prod'));
const two = streamList([[matcher('pod', '=', 'a')], [matcher('pod', '=', 'b')]]);
const line = substring('_msg', 'x');

test('lists of streams come first, however a filter is put together', (t) => {
  const wanted = '{pod="a" or pod="b"} {env="prod"} _msg:*"x"*';
  for (const filter of [
    and(selector, line, two),
    and(and(selector, two), line),
    and(selector, and(line, two)),
  ])
    t.is(printFilter(filter), wanted);
});

test('all other filters keep their order, as do lists that are negated or alternatives', (t) => {
  t.is(printFilter(and(line, selector)), '_msg:*"x"* {env="prod"}');
  t.is(printFilter(and(selector, not(two))), '{env="prod"} !({pod="a" or pod="b"})');
  t.is(
    printFilter(and(selector, or(and(line, two), line))),
    '{env="prod"} ({pod="a" or pod="b"} _msg:*"x"* or _msg:*"x"*)',
  );
});
