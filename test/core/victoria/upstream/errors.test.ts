import test from 'ava';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { apiError } from '../../../../core/base/errors/table.js';
import {
  BrokenBody,
  failureOf,
  isReset,
  isTransportFailure,
  refusalOf,
} from '../../../../core/victoria/upstream/failures.js';
import { redact } from '../../../../core/victoria/upstream/redact.js';

function withCode(code: string, message = code): Error {
  return Object.assign(new Error(message), { code });
}

test('a refusal keeps its status on query routes and becomes 502 on listings', (t) => {
  const kept = refusalOf(400, 'cannot parse `query` arg: missing', 'keep');
  t.is(kept.status, 400);
  t.is(kept.errorType, 'bad_data');
  t.is(refusalOf(400, 'bad', 'gateway').status, 502);
  t.is(refusalOf(500, '', 'keep').message, 'backend answered with status 500');
  t.is(refusalOf(999, 'so much is wrong', 'keep').status, 502);
});

test('a query that is too long for the backend is told with the limit and how to raise it', (t) => {
  const text =
    'the `query` arg length cannot exceed -search.maxQueryLen=300 bytes; the current query length is 540 bytes; query=x';
  for (const [status, rule] of [
    [400, 'keep'],
    [422, 'keep'],
    [400, 'gateway'],
  ] as const) {
    const error = refusalOf(status, text, rule);
    t.is(error.status, 400);
    t.is(
      error.message,
      'the translated query has 540 bytes, and VictoriaLogs accepts 300; shorten the query, or raise -search.maxQueryLen of VictoriaLogs',
    );
  }
});

test('a refusal that is no sentence is told with its status', (t) => {
  for (const [body, message] of [
    ['OK', 'backend answered with status 500: OK'],
    ['[]', 'backend answered with status 500: []'],
    ['42\n', 'backend answered with status 500: 42'],
    [
      '<!DOCTYPE html><h1>It works!</h1>',
      'backend answered with status 500: <!DOCTYPE html><h1>It works!</h1>',
    ],
    ['{"level":"info"}\n{"level":"error"}', 'backend answered with status 500: {...}\n{...}'],
    ['cannot read block', 'cannot read block'],
  ] as const)
    t.is(refusalOf(500, body, 'keep').message, message);
});

test('a redirect is never told as one, and says what to set', (t) => {
  const error = refusalOf(301, '<a href="https://logs">Moved</a>', 'keep');
  t.is(error.status, 502);
  t.is(error.message, 'backend answered with status 301; set -backend to the target of its redirect');
});

test('what says that this is no VictoriaLogs, or one behind a login, comes with advice', (t) => {
  const missing = refusalOf(404, '404 page not found', 'keep');
  t.is(missing.status, 404);
  t.regex(missing.message, /^backend answered with status 404: 404 page not found; is -backend /);
  t.regex(
    refusalOf(401, '', 'gateway').message,
    /^backend answered with status 401; set -backend-basic-auth/,
  );
});

test('the text of a JSON refusal is its error', (t) => {
  const error = refusalOf(422, '{"status":"error","errorType":"422","error":"missing stats pipe"}', 'keep');
  t.is(error.message, 'missing stats pipe');
  t.is(error.errorType, 'execution');
});

test('the backend’s own deadline is 504', (t) => {
  t.is(refusalOf(503, "the request couldn't be executed in 30.000 seconds; possible", 'keep').status, 504);
  t.is(failureOf(new BrokenBody('broken')).status, 504);
  t.is(failureOf(new DOMException('too late', 'TimeoutError')).status, 504);
});

test('other failures of the connection are 502 and count for the breaker', (t) => {
  const refused = withCode('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1');
  t.is(failureOf(refused).status, 502);
  t.is(failureOf(refused).message, 'backend unreachable: connect ECONNREFUSED 127.0.0.1:1');
  t.true(isTransportFailure(refused));
  t.false(isTransportFailure(new BrokenBody('x')));
  t.false(isTransportFailure(apiError('queryTimeout', {})));
  t.true(failureOf(apiError('breakerOpen', {})) instanceof ApiError);
});

test('only a closed connection may be tried again', (t) => {
  t.true(isReset(withCode('ECONNRESET')));
  t.true(isReset(withCode('EPIPE')));
  t.false(isReset(withCode('ECONNREFUSED')));
  t.false(isReset('text'));
});

test('selectors, long texts and long numbers are taken out of error texts', (t) => {
  const shown = redact(
    'cannot parse [{app="secret"} "customer 4711 Smith" `0123456789ab` 0123456789abcdef0123 "short"]',
  );
  t.is(shown, 'cannot parse [{...} "..." `...` ... "short"]');
  t.is(redact('x'.repeat(600)).length, 503);
  t.is(redact('cannot obtain "" of "a" at "customer 4711": no'), 'cannot obtain "" of "a" at "...": no');
});

test('apostrophes within words of an error text are no quotes', (t) => {
  const overload =
    "couldn't start executing the request in 10.009 seconds, since -search.maxConcurrentRequests=4 concurrent requests are executed. Possible solutions: to reduce query load; to pass bigger value to 'timeout' query arg";
  t.is(redact(overload), overload);
  t.is(redact("can't read 'customer 4711 Smith', don't know 'why'"), "can't read '...', don't know 'why'");
  t.is(redact("'it isn't known' of 'a' and 'customer 4711'"), "'...' of 'a' and '...'");
  t.is(
    redact("the users' logs aren't 'there'; 'été d'août 4711' is"),
    "the users' logs aren't 'there'; '...' is",
  );
});
