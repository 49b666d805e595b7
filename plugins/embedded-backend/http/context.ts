import type { IncomingMessage, ServerResponse } from 'node:http';

import type { EmbeddedBackend } from '../backend.js';
import type { FaultRule } from '../faults.js';
import type { TenantId } from '../store/stream-tags.js';
import type { Args } from './args.js';
import type { ResponseWriter } from './response.js';

/** One request being handled. */
export interface Context {
  readonly backend: EmbeddedBackend;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly path: string;
  readonly args: Args;
  readonly tenant: TenantId;
  readonly out: ResponseWriter;
  /** Aborts when the client leaves or the server closes. */
  readonly signal: AbortSignal;
  /** Time of arrival in Unix nanoseconds. */
  readonly nowNs: bigint;
  readonly fault: FaultRule | undefined;
}

/** Answers one endpoint; may throw `HttpError`. */
export type Handler = (ctx: Context) => Promise<void>;

/** Answers a JSON document with status 200. */
export async function answerJson(ctx: Context, value: unknown): Promise<void> {
  ctx.out.begin(200, 'application/json');
  const text = JSON.stringify(value);
  if (ctx.fault?.cutAfterRows !== undefined) {
    ctx.out.write(text.slice(0, text.length / 2));
    await ctx.out.flush();
    ctx.out.cut();
    return;
  }
  ctx.out.write(text);
  await ctx.out.end();
}

export async function answerText(
  ctx: Context,
  status: number,
  text: string,
  contentType = 'text/plain; charset=utf-8',
): Promise<void> {
  ctx.out.begin(status, contentType);
  ctx.out.write(text);
  await ctx.out.end();
}
