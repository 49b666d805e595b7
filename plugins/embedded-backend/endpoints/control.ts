import { parseFaultRules } from '../faults.js';
import { readRaw } from '../http/body.js';
import { answerJson, type Context } from '../http/context.js';
import { HttpError } from '../http/errors.js';

/** `GET /-/stats`: the counters of the backend. */
export function controlStats(ctx: Context): Promise<void> {
  return answerJson(ctx, ctx.backend.stats());
}

/** `/-/faults`: POST replaces the rules, DELETE drops them, GET lists them. 403 unless started with `faults: true`. */
export async function controlFaults(ctx: Context): Promise<void> {
  const { faults } = ctx.backend;
  if (!faults.enabled)
    throw new HttpError(403, 'faults on demand are off; start the backend with `faults: true`');
  switch (ctx.req.method) {
    case 'POST':
    case 'PUT':
      faults.set(parseFaultRules((await readRaw(ctx.req)).toString('utf8')));
      break;
    case 'DELETE':
      faults.set([]);
      break;
    default:
      break;
  }
  await answerJson(ctx, faults.list());
}
