/**
 * Loaded into a process before the proxy (`node --import`): makes the listeners throw that code of this project registers on objects of
 * `net`, `http` and `ws`. A message names the hook that throws from now on; the reply lists all hooks and those that have thrown.
 */
import { EventEmitter } from 'node:events';
import { IncomingMessage, OutgoingMessage } from 'node:http';
import { Server, Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

type Listener = (...values: unknown[]) => void;
type Register = (this: EventEmitter, event: string | symbol, listener: Listener) => EventEmitter;

const kinds = { Server, Socket, IncomingMessage, OutgoingMessage, WebSocket, WebSocketServer };
const hooks = new Set<string>();
const thrown = new Set<string>();
let armed = '';
let isInside = false;

/** Stack frames of Node's methods between code of this project and an emitter. */
const passing = /at \S*?(?:on|once|addListener|prepend\w+|socketOnWrap)(?: \[as \w+\])? \(node:/;

/** The place at which a listener was registered, if it is in code of this project. */
function hookOf(emitter: EventEmitter, event: string | symbol): string | undefined {
  const kind = Object.entries(kinds).find(([, type]) => emitter instanceof type)?.[0];
  if (kind === undefined) return undefined;
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 30;
  const frames = (new Error().stack ?? '').split('\n').slice(1);
  Error.stackTraceLimit = limit;
  // The request handler is passed to the constructor of the server.
  const isHandler = kind === 'Server' && event === 'request';
  const first = frames.find(
    (frame) =>
      !frame.includes('/thrower.js') && !passing.test(frame) && !(isHandler && frame.includes('(node:')),
  );
  const at = /\/dist\/((?:core|plugins)\/\S+):\d+\)?$/.exec(first ?? '')?.[1];
  return at === undefined ? undefined : `${kind} ${String(event)} ${at}`;
}

/** Node before 20.20.2 and 22.22.2 throws here for a header named `__proto__`. */
function breakHeaders(request: IncomingMessage): void {
  Object.defineProperty(request, 'headersDistinct', {
    configurable: true,
    get: () => {
      throw new TypeError('dest[field].push is not a function');
    },
  });
}

for (const name of ['on', 'addListener', 'once', 'prependListener', 'prependOnceListener'] as const) {
  // The method is called with its emitter below.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const register = EventEmitter.prototype[name] as Register;
  EventEmitter.prototype[name] = function (this: EventEmitter, event: string | symbol, listener: Listener) {
    const hook = isInside ? undefined : hookOf(this, event);
    if (hook === undefined) return register.call(this, event, listener);
    hooks.add(hook);
    const throwing = Object.assign(
      function (this: unknown, ...values: unknown[]): void {
        if (armed === hook) {
          if (!thrown.has(hook)) process.send?.({ threw: hook });
          thrown.add(hook);
          throw new Error(`thrown in ${hook}`);
        }
        for (const value of values) if (value instanceof IncomingMessage) breakHeaders(value);
        listener.apply(this, values);
      },
      // An emitter uses this property to find the listener to remove.
      { listener },
    );
    isInside = true;
    try {
      return register.call(this, event, throwing);
    } finally {
      isInside = false;
    }
  } as never;
}

process.on('message', (hook: string) => {
  armed = hook;
  process.send?.({ hooks: [...hooks], thrown: [...thrown] });
});
process.channel?.unref();
