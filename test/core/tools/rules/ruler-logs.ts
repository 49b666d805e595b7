import { request } from 'undici';

/** Logs of a few apps and nodes over two hours, with lines at whole seconds, so that rows are on the borders of windows. */
export interface RulerLogs {
  /** Last second of the logs, in Unix seconds. */
  readonly endSeconds: number;
  readonly startSeconds: number;
}

interface PushedStream {
  readonly stream: Readonly<Record<string, string>>;
  readonly values: (readonly [string, string, Readonly<Record<string, string>>])[];
}

const lengthSeconds = 7200;

/** Pushes the logs of a tenant as a Loki agent would; they end at the last whole minute. */
export async function pushRulerLogs(
  url: string,
  tenant: 'shop' | 'platform',
  account: number,
): Promise<RulerLogs> {
  const endSeconds = Math.floor(Date.now() / 60_000) * 60;
  const startSeconds = endSeconds - lengthSeconds;
  const streams = tenant === 'shop' ? shopStreams(startSeconds) : nodeStreams(startSeconds);
  const { statusCode } = await request(`${url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', AccountID: String(account) },
    body: JSON.stringify({ streams }),
  });
  if (statusCode !== 204) throw new Error(`the push is answered with ${statusCode}`);
  return { startSeconds, endSeconds };
}

function linesOf(
  start: number,
  everySeconds: number,
  lineOf: (index: number) => readonly [string, Readonly<Record<string, string>>] | undefined,
): PushedStream['values'] {
  const values: PushedStream['values'] = [];
  for (let index = 0; index * everySeconds <= lengthSeconds; index += 1) {
    const made = lineOf(index);
    if (made !== undefined) values.push([`${start + index * everySeconds}000000000`, ...made]);
  }
  return values;
}

function shopStreams(start: number): readonly PushedStream[] {
  const checkout = ['checkout-1', 'checkout-2'].map((pod, which) => ({
    stream: { namespace: 'shop', app: 'checkout', pod },
    values: linesOf(start, 5, (index) => {
      // No lines for eleven minutes.
      if (index >= 600 && index < 732) return undefined;
      const isError = index % (which === 0 ? 17 : 7) === 0;
      const text = isError ? 'level=error msg="payment to bank timeout"' : 'level=info msg="order placed"';
      const status = isError ? { status: '503' } : index % 3 === 0 ? { status: '200' } : {};
      const user = index % 4 === 0 ? {} : { user: index % 4 === 1 ? 'guest' : 'ann' };
      return [`${text} took=${(index * 37) % 1200}ms n=${index}`, { ...status, ...user }];
    }),
  }));
  const cart = ['cart-1', 'cart-2', 'cart-3'].map((pod, which) => ({
    stream: { namespace: 'shop', app: 'cart', pod },
    values: linesOf(start, which + 1, (index) => {
      const level = index % 50 === 0 ? 'ERROR' : 'INFO';
      const word = index % 331 === 0 ? ' Panic: nil cart' : index % 50 === 0 ? ' level=error' : '';
      return [`{"level":"${level}","n":${index}}${word}`, {}];
    }),
  }));
  const infra = ['ingress', 'dns'].map((app) => ({
    stream: { namespace: 'infra', app },
    values: linesOf(start, 10, (index) => [
      `${index % 5 === 0 ? 'debug' : 'notice'} ${app} request ${index}`,
      { 'team.owner': index % 2 === 0 ? 'red' : 'blue' },
    ]),
  }));
  return [...checkout, ...cart, ...infra];
}

function nodeStreams(start: number): readonly PushedStream[] {
  return ['node-a', 'node-b', 'node-c'].flatMap((node, which) => [
    {
      stream: { job: 'kernel', node },
      values: linesOf(start, 20, (index) => {
        const text =
          index % 97 === 0
            ? 'Out of memory: killed process 12'
            : index % (11 + which) === 0
              ? 'EXT4-fs error (device sda1)'
              : 'eth0: link up';
        return [`${text} #${index}`, {}];
      }),
    },
    {
      stream: { job: 'kubelet', node },
      values: linesOf(start, 10 + which, (index) => [`${'sync loop '.repeat(20)}${index}`, {}]),
    },
  ]);
}
