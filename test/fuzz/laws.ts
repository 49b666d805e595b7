import { faultOfError, showsInsides, type ProxyAnswer } from '../watch/error-texts.js';

/** The problem of an answer to any request. Log lines can contain anything, so successful answers are not checked. */
export function faultOf(answer: ProxyAnswer, toldByBackend: readonly string[] = []): string | undefined {
  const { status, text } = answer;
  if (status < 400) return undefined;
  if (status < 500)
    return showsInsides(text)
      ? `${status}: it shows the inside of the program: ${text.slice(0, 300)}`
      : undefined;
  const fault = faultOfError(answer, toldByBackend);
  return fault === undefined ? undefined : `${status}: ${fault}`;
}
