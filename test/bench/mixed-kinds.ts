import type { Chances } from './chances.js';

/** A program, and a generator for its lines. */
export interface LogKind {
  readonly labels: Readonly<Record<string, string>>;
  /** The label that distinguishes its streams. */
  readonly instance: string;
  readonly streams: number;
  /** Its share of all lines. */
  readonly weight: number;
  readonly line: (chance: Chances, atMs: number) => string;
  readonly metadata?: (chance: Chances) => Readonly<Record<string, string>>;
}

const iso = (atMs: number): string => new Date(atMs).toISOString();
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const twoDigits = (value: number): string => String(value).padStart(2, '0');
const path = (chance: Chances): string =>
  `/${chance.word()}/${chance.word()}${chance.happens(0.5) ? `/${chance.hex(8)}` : ''}${chance.happens(0.2) ? `?${chance.word()}=${chance.word()}` : ''}`;
const method = (chance: Chances): string => chance.pick(['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE']);
const status = (chance: Chances): number =>
  chance.weighted([
    [200, 74],
    [201, 6],
    [304, 7],
    [401, 2],
    [404, 6],
    [429, 1],
    [500, 2],
    [502, 1],
    [504, 1],
  ]);
const agent = (chance: Chances): string =>
  chance.pick([
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15',
    'curl/8.9.1',
    'kube-probe/1.33',
    'Go-http-client/2.0',
  ]);

function nginx(chance: Chances, atMs: number): string {
  const at = new Date(atMs);
  const day = `${twoDigits(at.getUTCDate())}/${months[at.getUTCMonth()] ?? ''}/${at.getUTCFullYear()}`;
  return `${chance.ip()} - ${chance.happens(0.1) ? chance.word() : '-'} [${day}:${iso(atMs).slice(11, 19)} +0000] "${method(chance)} ${path(chance)} HTTP/1.1" ${status(chance)} ${chance.whole(0, 90_000)} "-" "${agent(chance)}" ${(chance.next() * 3).toFixed(3)} ${chance.hex(32)}`;
}

/** The severity is one letter; some messages contain an `err` field. */
function klog(chance: Chances, atMs: number): string {
  const letter = chance.weighted([
    ['I', 80],
    ['W', 12],
    ['E', 8],
  ]);
  const pod = `pod="${chance.word()}/${chance.word()}-${chance.hex(10)}-${chance.hex(5)}"`;
  const error =
    letter === 'E' ? ` err="rpc error: code = Unknown desc = ${chance.words(chance.whole(2, 6))}"` : '';
  return `${letter}${iso(atMs).slice(5, 10).replace('-', '')} ${iso(atMs).slice(11, 23)}${chance.whole(100, 999)} ${String(chance.whole(1, 90_000)).padStart(7)} ${chance.word()}.go:${chance.whole(10, 2000)}] "${chance.words(chance.whole(2, 5))}" ${pod} containerID="${chance.hex(24)}" probe=${chance.word()}${error}`;
}

function java(chance: Chances, atMs: number): string {
  const level = chance.weighted([
    ['INFO ', 78],
    ['DEBUG', 6],
    ['WARN ', 10],
    ['ERROR', 6],
  ]);
  // Some lines mention an error without being one.
  const about = chance.happens(0.05) ? `after error ${chance.word()}` : chance.words(chance.whole(1, 4));
  const head = `${iso(atMs).slice(0, 19).replace('T', ' ')},${iso(atMs).slice(20, 23)} ${level} [exec-${chance.whole(1, 40)}] o.a.${chance.word()}.${chance.word()}Service - ${chance.words(chance.whole(3, 8))} ${about} id=${chance.uuid()}`;
  if (level !== 'ERROR') return head;
  const frames = Array.from(
    { length: chance.whole(6, 24) },
    () =>
      `\tat org.acme.${chance.word()}.${chance.word()}.${chance.word()}(${chance.word()}.java:${chance.whole(10, 900)})`,
  );
  return `${head}\norg.acme.${chance.word()}Exception: ${chance.words(4)}\n${frames.join('\n')}\nCaused by: java.io.IOException: ${chance.words(3)}\n\t... ${chance.whole(3, 40)} more`;
}

/** The audit log of a Kubernetes API server; its `level` is not a severity. */
function audit(chance: Chances, atMs: number): string {
  const namespace = chance.word();
  const resource = chance.pick(['pods', 'events', 'leases', 'secrets', 'configmaps', 'endpointslices']);
  return JSON.stringify({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: chance.pick(['Metadata', 'Metadata', 'Request']),
    auditID: chance.uuid(),
    stage: 'ResponseComplete',
    requestURI: `/api/v1/namespaces/${namespace}/${resource}/${chance.word()}-${chance.hex(5)}`,
    verb: chance.pick(['get', 'list', 'watch', 'update', 'patch']),
    user: {
      username: `system:serviceaccount:${namespace}:${chance.word()}`,
      groups: ['system:serviceaccounts', 'system:authenticated'],
    },
    sourceIPs: [chance.ip()],
    userAgent: `${chance.word()}/v1.33.${chance.whole(0, 9)} (linux/amd64) kubernetes/${chance.hex(7)}`,
    responseStatus: { metadata: {}, code: chance.pick([200, 200, 200, 201, 404, 409]) },
    requestReceivedTimestamp: iso(atMs),
    annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
  });
}

function controller(chance: Chances, atMs: number): string {
  const level = chance.weighted([
    ['info', 82],
    ['debug', 6],
    ['warn', 6],
    ['error', 6],
  ]);
  const name = `${chance.word()}-${chance.hex(6)}`;
  return JSON.stringify({
    ts: atMs / 1000,
    level,
    logger: `controller.${chance.word()}`,
    msg: chance.happens(0.1) ? `retry after error ${chance.words(2)}` : chance.words(chance.whole(2, 6)),
    object: { namespace: chance.word(), name },
    reconcileID: chance.uuid(),
    ...(level === 'error'
      ? {
          error: `${chance.words(4)}: "${name}" not found`,
          stacktrace: `${chance.word()}.go:${chance.whole(9, 900)}\n\t${chance.words(6)}`,
        }
      : {}),
  });
}

function traefik(chance: Chances, atMs: number): string {
  const code = status(chance);
  const duration = chance.whole(90_000, 900_000_000);
  return JSON.stringify({
    ClientAddr: `${chance.ip()}:${chance.whole(1024, 65_000)}`,
    ClientHost: chance.ip(),
    DownstreamContentSize: chance.whole(0, 90_000),
    DownstreamStatus: code,
    Duration: duration,
    OriginDuration: duration - chance.whole(1000, 80_000),
    OriginStatus: code,
    Overhead: chance.whole(10_000, 90_000),
    RequestHost: `${chance.word()}.example.org`,
    RequestMethod: method(chance),
    RequestPath: path(chance),
    RequestProtocol: 'HTTP/2.0',
    RequestScheme: 'https',
    RetryAttempts: 0,
    RouterName: `${chance.word()}@kubernetes`,
    ServiceAddr: `${chance.ip()}:8080`,
    StartUTC: iso(atMs),
    'request_User-Agent': agent(chance),
    level: 'info',
    msg: '',
    time: iso(atMs),
  });
}

function logfmt(chance: Chances, atMs: number): string {
  const level = chance.weighted([
    ['info', 75],
    ['debug', 10],
    ['warn', 9],
    ['error', 6],
  ]);
  const error = level === 'error' ? ` err="${chance.words(4)}"` : '';
  return `ts=${iso(atMs)} caller=${chance.word()}.go:${chance.whole(10, 900)} component=${chance.word()} ${chance.happens(0.1) ? `org_id=${chance.word()} ` : ''}level=${level} msg="${chance.words(chance.whole(2, 6))}" traceID=${chance.hex(16)} duration=${(chance.next() * 900).toFixed(3)}ms${error}`;
}

function csv(chance: Chances, atMs: number): string {
  return `${iso(atMs)},${chance.uuid()},${chance.word()},${chance.pick(['OK', 'OK', 'OK', 'FAILED'])},${chance.whole(1, 90_000)},"${chance.words(3)}",${(chance.next() * 1e6).toFixed(2)},${chance.happens(0.05) ? 'error' : ''},${chance.word()}`;
}

/** A dump of up to 64 KB. */
function dump(chance: Chances, atMs: number): string {
  const length = chance.whole(8000, 64_000);
  let text = `${iso(atMs)} dump of ${chance.word()}:`;
  while (text.length < length) text += ` ${chance.word()}=${chance.hex(64)}`;
  return text.slice(0, length);
}

const traced =
  (share: number) =>
  (chance: Chances): Readonly<Record<string, string>> =>
    chance.happens(share) ? { trace_id: chance.hex(32) } : {};

export const mixedKinds: readonly LogKind[] = [
  { labels: { job: 'ingress/nginx' }, instance: 'pod', streams: 12, weight: 20, line: nginx },
  { labels: { job: 'kubelet' }, instance: 'node', streams: 14, weight: 16, line: klog },
  { labels: { app: 'orders' }, instance: 'pod', streams: 10, weight: 12, line: java, metadata: traced(0.5) },
  { labels: { job: 'audit' }, instance: 'node', streams: 6, weight: 10, line: audit },
  { labels: { app: 'operator' }, instance: 'pod', streams: 6, weight: 8, line: controller },
  {
    ...{ labels: { service_name: 'traefik' }, instance: 'pod', streams: 12, weight: 20, line: traefik },
    metadata: traced(0.6),
  },
  { labels: { service_name: 'ledger' }, instance: 'pod', streams: 8, weight: 8, line: logfmt },
  {
    ...{ labels: { service_name: 'mailer' }, instance: 'pod', streams: 4, weight: 4, line: logfmt },
    metadata: (chance) => ({ level: chance.pick(['info', 'info', 'warn', 'error']), tenant: chance.word() }),
  },
  { labels: { job: 'exports' }, instance: 'host', streams: 4, weight: 2, line: csv },
  { labels: { job: 'dumps' }, instance: 'host', streams: 1, weight: 0.05, line: dump },
];
