import { faultOfError, showsInsides, type ProxyAnswer } from '../watch/error-texts.js';

/** What is wrong with an answer to a request of whatever kind. Lines of logs may look like anything, so a success is left alone. */
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
