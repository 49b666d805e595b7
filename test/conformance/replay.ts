import { Pool } from 'undici';
import { parsedBody, queryString, type Answered } from '../../core/comparison/answers.js';
import type { Case, GoldenCase } from './cases.js';
import { compareAnswers } from './compare.js';

/** The result of a case: the difference is undefined if the answers agree. */
export interface Outcome {
  readonly request: Case;
  readonly difference: string | undefined;
}

/** Sends cases one after another and compares the answers. */
export async function replay(proxyUrl: string, cases: readonly GoldenCase[]): Promise<readonly Outcome[]> {
  const pool = new Pool(proxyUrl);
  try {
    const outcomes: Outcome[] = [];
    for (const { request, golden } of cases) {
      const answer = await send(pool, request);
      outcomes.push({ request, difference: compareAnswers(request, golden, answer) });
    }
    return outcomes;
  } finally {
    await pool.close();
  }
}

/** Sends the request of a case. */
export async function send(pool: Pool, request: Case): Promise<Answered> {
  const isPost = request.method === 'POST';
  const text = queryString(request.params);
  const answer = await pool.request({
    method: request.method,
    path: isPost || text === '' ? request.path : `${request.path}?${text}`,
    headers: {
      ...request.headers,
      ...(isPost ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
    },
    body: isPost ? text : null,
  });
  return { status: answer.statusCode, body: parsedBody(await answer.body.text()) };
}
