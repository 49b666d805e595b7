import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.js';
import { apiError } from '../base/errors/table.js';
import type { ServerOptions } from '../base/options.gen.js';
import type { RequestObserver, RequestRecord } from '../kernel/telemetry/request-record.js';
import { connectionError } from './error-body.js';
import type { InFlight } from './in-flight.js';

export interface TrackSettings {
  readonly options: Pick<ServerOptions, 'httpWriteTimeout'>;
  readonly inFlight: InFlight;
  readonly observer: RequestObserver;
  readonly clock: Clock;
  /** Closes the connection of a client that does not read its answer. */
  readonly cutUnread: (socket: Socket) => void;
}

/**
 * Registers a request until its response has ended or its client has left, and notifies the observers of both. Returns the controller that
 * ends the request early, which its timeout also uses.
 */
export function track(
  { socket }: Pick<IncomingMessage, 'socket'>,
  response: ServerResponse,
  record: RequestRecord,
  settings: TrackSettings,
): AbortController {
  const { clock, observer } = settings;
  const controller = new AbortController();
  const leave = settings.inFlight.add(controller);
  observer.started(record);
  const endBound = limitTime(socket, controller, settings);
  // Kept here, because Node detaches the socket from a finished request.
  let isWhole = false;
  // Also emitted when the connection is destroyed with the rest of the answer still in its buffer.
  response.prependOnceListener('finish', () => (isWhole = !socket.destroyed));
  response.once('close', () => {
    endBound();
    const ended = isWhole ? undefined : connectionError(socket);
    if (ended !== undefined) {
      record.error ??= ended;
      controller.abort(ended);
    }
    leave();
    const status = ended?.status ?? response.statusCode;
    observer.finished(record, status, clock.monotonicMs() - record.startedMs);
  });
  return controller;
}

/** Time for a client to read the error of a request that timed out. */
const errorDeliveryMs = 1_000;

/** Ends the request after `-http-write-timeout`, and then its connection if the client still does not read the answer. */
function limitTime(socket: Socket, controller: AbortController, settings: TrackSettings): () => void {
  const bound = settings.options.httpWriteTimeout;
  if (bound === 0) return () => undefined;
  let timer = setTimeout(() => {
    controller.abort(apiError('queryTimeout', {}));
    timer = setTimeout(() => settings.cutUnread(socket), errorDeliveryMs);
  }, bound);
  return () => clearTimeout(timer);
}
