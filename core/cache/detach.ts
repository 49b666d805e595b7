import { createExchange, type Exchange } from '../kernel/plugin/exchange.js';

/**
 * The same exchange with its own lifetime: it ends only with `signal`, not with the client that asked first. It is used for calls shared by
 * several clients, and for work after the answer, which has a caller, a trace and an account of its own. Its answer is merged or cached, so
 * it is never final.
 */
export function detachExchange(
  exchange: Exchange<'tenant'>,
  signal: AbortSignal,
  { caller, trace, memory }: Pick<Exchange, 'caller' | 'trace' | 'memory'> = exchange,
): Exchange<'tenant'> {
  const { id, request, slots } = exchange;
  return createExchange({ id, request, caller, trace, memory, signal, isFinal: false }).derive<'tenant'>({
    slots,
  });
}
