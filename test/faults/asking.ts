import { request } from 'undici';
import type { ProxyAnswer } from '../watch/error-texts.js';
import type { Question } from './questions.js';

/** An answer without its statistics, which are measured each time. */
export function comparable({ status, contentType, text }: ProxyAnswer): string {
  if (!contentType.startsWith('application/json')) return `${status} ${text}`;
  return `${status} ${JSON.stringify(JSON.parse(text), (key, value: unknown) => (key === 'stats' ? undefined : value))}`;
}

/** Sends a client's request to a proxy. */
export async function ask(url: string, { method, path, form, headers }: Question): Promise<ProxyAnswer> {
  const query = new URLSearchParams(form.map(([name, value]): [string, string] => [name, value])).toString();
  const isPost = method === 'POST';
  const answer = await request(`${url}${path}${isPost || query === '' ? '' : `?${query}`}`, {
    method,
    headers: { ...headers, ...(isPost ? { 'content-type': 'application/x-www-form-urlencoded' } : {}) },
    body: isPost ? query : null,
  });
  try {
    const text = await answer.body.text();
    return { status: answer.statusCode, contentType: String(answer.headers['content-type'] ?? ''), text };
  } catch (error) {
    // The head was sent before the damage was detected: the client gets a truncated response, which it treats as an error.
    return { status: 599, contentType: '', text: `broken off: ${String(error)}` };
  }
}
