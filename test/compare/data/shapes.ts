import type { Random } from '../../watch/random.js';
import { randomJson, randomLogfmt } from './structured.js';
import { addresses, anyText, digits, durations, hex, levels, methods, phrase, sizes, urls, users } from './values.js';

/** Generates a line of a family for a given time. */
export type Shape = (random: Random, at: Date) => string;

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;
const statuses = ['200', '200', '201', '204', '301', '404', '403', '500', '502', '503'] as const;
const commonLevels = ['debug', 'info', 'info', 'warn', 'error'] as const;

function two(value: number): string {
  return String(value).padStart(2, '0');
}

function clock(at: Date): string {
  return at.toISOString().slice(11, 19);
}

function month(at: Date): string {
  return months[at.getUTCMonth()] ?? 'Jan';
}

function accessDate(at: Date): string {
  return `${two(at.getUTCDate())}/${month(at)}/${at.getUTCFullYear()}:${clock(at)} +0000`;
}

function nginx(random: Random, at: Date): string {
  const request = `${random.pick(methods)} ${random.pick(urls)} HTTP/1.1`;
  const status = `${random.pick(statuses)} ${random.below(90_000)}`;
  return `${random.pick(addresses)} - ${random.pick(users)} [${accessDate(at)}] "${request}" ${status} "-" "Mozilla/5.0 (X11; Linux)" ${(random.next() * 3).toFixed(3)}`;
}

function apacheError(random: Random, at: Date): string {
  return `[${at.toUTCString().slice(0, 11)} ${clock(at)}.${digits(random, 6)} ${at.getUTCFullYear()}] [core:${random.pick(['error', 'warn', 'notice', 'info'])}] [pid ${random.below(9000)}] [client ${random.pick(addresses)}:${random.below(60_000)}] AH00${digits(random, 3)}: ${phrase(random)}`;
}

function klog(random: Random, at: Date): string {
  const head = `${random.pick(['I', 'W', 'E', 'F'])}${two(at.getUTCMonth() + 1)}${two(at.getUTCDate())} ${clock(at)}.${digits(random, 6)}`;
  return `${head}       ${random.below(9) + 1} ${random.pick(['server', 'reflector', 'controller'])}.go:${random.below(900)}] "${phrase(random)}" pod="kube-system/${random.pick(['dns', 'proxy'])}-${hex(random, 5)}" err="${phrase(random)}"`;
}

function java(random: Random, at: Date): string {
  const level = random.pick(['ERROR', 'WARN', 'INFO', 'DEBUG', 'FATAL']);
  const head = `${at.toISOString().replace('T', ' ').replace('Z', '')} ${level.padEnd(5)} [http-nio-8080-exec-${random.below(20)}] c.e.shop.OrderService - ${phrase(random)}`;
  if (!random.chance(0.4)) return head;
  const frames = random.several(
    5,
    () => `\tat com.example.shop.${random.pick(['Order', 'Cart', 'User'])}Service.run(Service.java:${random.below(400)})`,
    1,
  );
  return [head, `java.lang.IllegalStateException: ${phrase(random)}`, ...frames, ...(random.chance(0.3) ? ['Caused by: java.io.IOException: error 5', '\t... 12 more'] : [])].join('\n');
}

function kubernetes(random: Random, at: Date): string {
  const inner = random.chance(0.5) ? JSON.stringify({ level: random.pick(levels), msg: phrase(random) }) : phrase(random);
  return JSON.stringify({
    log: `${inner}\n`,
    stream: random.pick(['stdout', 'stderr']),
    time: at.toISOString(),
    kubernetes: { pod_name: `web-${hex(random, 5)}`, namespace_name: random.pick(['prod', 'dev']), labels: { app: 'web', 'app.kubernetes.io/name': 'web' } },
  });
}

function traefik(random: Random, at: Date): string {
  return JSON.stringify({
    ClientAddr: `${random.pick(addresses)}:${random.below(60_000)}`,
    DownstreamStatus: Number(random.pick(statuses)),
    Duration: random.below(10 ** 9),
    RequestMethod: random.pick(methods),
    RequestPath: random.pick(urls),
    level: random.pick(commonLevels),
    msg: '',
    request_Content_Length: random.below(5000),
    time: at.toISOString(),
  });
}

function syslog3164(random: Random, at: Date): string {
  return `<${random.below(192)}>${month(at)} ${String(at.getUTCDate()).padStart(2)} ${clock(at)} host${random.below(4)} sshd[${random.below(30_000)}]: ${random.pick(['Failed password for invalid user admin from', 'Accepted publickey for root from', 'Connection closed by'])} ${random.pick(addresses)} port ${random.below(60_000)}`;
}

function syslog5424(random: Random, at: Date): string {
  return `<${random.below(192)}>1 ${at.toISOString()} host${random.below(4)}.example.org app ${random.below(9000)} ID${random.below(50)} [meta@32473 level="${random.pick(levels)}" took="${random.pick(durations)}"] ${phrase(random)}`;
}

function csv(random: Random, at: Date): string {
  return [random.below(10_000), at.toISOString(), random.pick(users), '', (random.next() * 5000).toFixed(2), random.pick(levels)].join(random.pick([',', ',', ';', '\t']));
}

function postgres(random: Random, at: Date): string {
  const level = random.pick(['LOG', 'ERROR', 'FATAL', 'WARNING', 'STATEMENT', 'DETAIL']);
  return `${at.toISOString().replace('T', ' ').replace('Z', ' UTC')} [${random.below(30_000)}] ${random.pick(users)}@shop ${level}:  ${random.pick(['duration: 12.345 ms  statement: SELECT * FROM orders WHERE note LIKE \'%err%\'', 'duplicate key value violates unique constraint "pk"', 'checkpoint complete: wrote 34 buffers (0.2%)', phrase(random)])}`;
}

function goLogfmt(random: Random, at: Date): string {
  const quotedPhrase = JSON.stringify(phrase(random));
  return `ts=${at.toISOString()} caller=${random.pick(['main', 'metrics', 'flush'])}.go:${random.below(400)} level=${random.pick(commonLevels)} msg=${quotedPhrase} duration=${random.pick(durations)} size=${random.pick(sizes).replaceAll(' ', '')} status=${random.pick(statuses)} user=${random.pick(users)}${random.chance(0.3) ? ` err="${phrase(random)}"` : ''}`;
}

function zapJson(random: Random, at: Date): string {
  return `{"level":"${random.pick(commonLevels)}","ts":${at.getTime() / 1000},"caller":"app/run.go:${random.below(300)}","msg":${JSON.stringify(phrase(random))},"duration":"${random.pick(durations)}","bytes":${random.below(100_000)},"status":${random.pick(statuses)},"user":{"name":"${random.pick(users)}","id":${random.below(50)}}}`;
}

function ansi(random: Random, at: Date): string {
  const color = random.pick(['31', '32', '1;33', '38;5;208', '0']);
  return `\u001b[2m${clock(at)}\u001b[0m \u001b[${color}m${random.pick(['ERROR', ' WARN', ' INFO', 'DEBUG'])}\u001b[0m ${phrase(random)} \u001b[3muser\u001b[0m=${random.pick(users)}`;
}

function windows(random: Random, at: Date): string {
  return `${at.toISOString()}\t${random.pick(['Information', 'Warning', 'Error', 'Critical', 'Audit Success'])}\tMSSQL$X\t${random.below(9000)}\tC:\\Windows\\System32\\svc${random.below(9)}.exe\t${phrase(random)}`;
}

function prose(random: Random): string {
  return random.several(6, () => anyText(random), 1).join(random.pick([' ', ' ', ', ', ' | ', '\t']));
}

function bracketed(random: Random): string {
  const mark = random.pick(levels);
  return `${random.pick([`[${mark}]`, `(${mark})`, `${mark}:`, `<${mark}>`, `level=${mark}`, `"level":"${mark}"`, `${mark} -`, `|${mark}|`])} ${phrase(random)} addr=[${random.pick(addresses)}] took ${random.pick(durations)}`;
}

function packed(random: Random): string {
  return JSON.stringify({ _entry: phrase(random), pod: `web-${random.below(3)}`, app: random.pick(['inner', 'web']), n: String(random.below(9)) });
}

function brokenJson(random: Random): string {
  const whole = randomJson(random, 2);
  return random.pick([whole.slice(0, -1), `${whole} trailing`, `${whole}${whole}`, whole.replace('}', ',}'), ` ${whole}`, `x${whole}`, `[${whole}]`, whole]);
}

/** Lines of one program, a few of which have another form. */
function uneven(shape: Shape): Shape {
  return (random, at) => {
    const line = shape(random, at);
    if (!random.chance(0.05)) return line;
    const cut = line.slice(0, -random.between(1, 20));
    return random.pick([cut, ` ${line}`, `${line} `, `${line} tail`, line.replaceAll(/[:=]/g, '$& '), '', `panic: ${phrase(random)}`]);
  };
}

function mixed(random: Random, at: Date): string {
  return random.pick<Shape>([zapJson, goLogfmt, nginx, prose, java, (some) => randomJson(some), randomLogfmt])(random, at);
}

function long(random: Random, at: Date): string {
  const line = goLogfmt(random, at);
  return random.chance(0.97) ? line : `${line} blob=${'0123456789abcdef'.repeat(random.between(64, 4000))} end=yes`;
}

export const shapes: Readonly<Record<string, Shape>> = {
  nginx,
  'apache-error': apacheError,
  klog,
  java,
  kubernetes,
  traefik,
  'syslog-3164': syslog3164,
  'syslog-5424': syslog5424,
  csv,
  postgres,
  'go-logfmt': goLogfmt,
  'zap-json': zapJson,
  ansi,
  windows,
  prose,
  bracketed,
  packed,
  'broken-json': brokenJson,
  'random-json': (random) => randomJson(random),
  'random-logfmt': (random) => randomLogfmt(random),
  'uneven-json': uneven(zapJson),
  'uneven-logfmt': uneven(goLogfmt),
  mixed,
  long,
};
