import type { HttpCall } from '../kernel/plugin/contract.js';
import { makeCaller } from './exchange.js';

/** A call of an endpoint for tests; sending requests down the chain fails unless `ask` is given, which `pass` then uses too. */
export function makeCall(change: Partial<HttpCall> = {}): HttpCall {
  const ask = change.ask ?? (() => Promise.reject(new Error('the endpoint asked the chain')));
  return {
    route: 'test',
    method: 'GET',
    path: '/',
    pathParams: new Map(),
    params: new Map(),
    caller: makeCaller(),
    signal: new AbortController().signal,
    ask,
    pass: (request) => ask(request),
    readBody: () => Promise.resolve(Buffer.alloc(0)),
    nowNs: () => 0n,
    ...change,
  };
}
