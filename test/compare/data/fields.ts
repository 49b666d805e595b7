import type { Random } from '../../watch/random.js';
import type { Door, Labels } from './rows.js';
import { severityText } from './view.js';
import { anyText, durations, fieldName, hex, levels, methods, sizes, urls, users } from './values.js';

const apps = ['web', 'api', 'orders', 'checkout', 'db', 'cron', 'Gate-Way', 'worker_2'] as const;
const environments = ['prod', 'dev', 'staging'] as const;
const pods = ['pod-0', 'pod-1', 'pod-2', 'pod-3'] as const;
const teams = ['shop', 'core', 'y z'] as const;

/** Names that partly map to the same label, also across streams. */
const collectorFields: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.pod_name': pods,
  kubernetes_pod_name: pods,
  'kubernetes.pod_namespace': teams,
  'kubernetes.container_name': apps,
  'host-name': pods,
  'host.name': pods,
  host_name: pods,
  'a.b': users,
  'a-b': users,
  a_b: users,
  a__b: users,
  'app.kubernetes.io/name': apps,
  '2fa': ['on', 'off'],
  'service.name': apps,
  'http.status': ['200', '404'],
  user_id: ['7', '8'],
  größe: ['1', '2'],
};
const collectorNames = Object.keys(collectorFields);
const legalNames = collectorNames.filter((name) => /^[a-z_]+$/.test(name));

const resourceAttributes: Readonly<Record<string, readonly string[]>> = {
  'service.name': apps,
  'service.namespace': teams,
  'deployment.environment': environments,
  'k8s.pod.name': pods,
  'k8s.namespace.name': teams,
  'k8s.node.name': pods,
  'host.name': pods,
  'telemetry.sdk.language': ['go', 'java'],
  'team.owner': teams,
  'cost-center': ['7', '8'],
  'service.version': ['1.2', '2'],
  'os.type': ['linux'],
  event_name: ['checkout', 'login'],
};
const attributeNames = Object.keys(resourceAttributes);

/** The stream fields of a source. */
export function streamFieldsOf(random: Random, door: Door, shape: string): Labels {
  if (door === 'otlp') return attributes(random);
  const fields = usualFields(random, shape);
  if (door === 'push' || door === 'parsed')
    return random.chance(0.25) ? { ...fields, ...others(random, legalNames, 2) } : fields;
  if (random.chance(0.04)) return {};
  const own = only(fields, random.chance(0.7) ? ['app', 'env', 'shape', 'level'] : ['shape']);
  return random.chance(0.1) ? own : { ...own, ...others(random, collectorNames, 4) };
}

function usualFields(random: Random, shape: string): Labels {
  const fields: Record<string, string> = { app: random.pick(apps), env: random.pick(environments), shape };
  if (random.chance(0.6)) fields['pod'] = random.pick(pods);
  if (random.chance(0.25)) fields['level'] = random.pick(levels.filter((level) => level !== ''));
  if (random.chance(0.4)) fields['service_name'] = random.pick(apps);
  if (random.chance(0.15)) fields['user'] = random.pick(['x', 'y z', 'é', '"q"', 'a\\b', '{}']);
  if (random.chance(0.15)) fields['status'] = random.pick(['200', '1.5', 'on']);
  if (random.chance(0.08)) fields['app_extracted'] = 'label';
  if (random.chance(0.08)) fields['trace_id'] = hex(random, 8);
  if (random.chance(0.06)) fields['severity'] = random.pick(['error', 'INFO']);
  return fields;
}

function others(random: Random, names: readonly string[], most: number): Labels {
  const chosen = random.several(most, () => random.pick(names), 1);
  return Object.fromEntries(chosen.map((name) => [name, random.pick(collectorFields[name] ?? teams)]));
}

function only(fields: Labels, names: readonly string[]): Labels {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
}

/** Resource attributes; `app` makes them indistinguishable from the fields that a collector chose. */
function attributes(random: Random): Labels {
  if (random.chance(0.06)) return {};
  const names = random.several(6, () => random.pick(attributeNames), 2);
  const made = Object.fromEntries(
    names.map((name) => [name, random.pick(resourceAttributes[name] ?? teams)]),
  );
  return random.chance(0.15) ? { ...made, app: random.pick(apps) } : made;
}

const eventNames = [
  'level',
  'msg',
  'message',
  'status',
  'method',
  'path',
  'duration',
  'bytes',
  'user.name',
  'user.id',
  'trace_id',
  'kubernetes.labels.app',
  'error.kind',
  'http.status',
  'a.b',
  'a-b',
] as const;

/** Field names for rows without a message; the fields become members of an object. */
export function eventFieldNames(random: Random): readonly string[] {
  return random.several(8, () => (random.chance(0.7) ? random.pick(eventNames) : fieldName(random)), 2);
}

/** Names of the fields next to a message: structured metadata. */
export function metadataFieldNames(random: Random, most: number): readonly string[] {
  return random.several(most, () => metadataName(random), 1);
}

function metadataName(random: Random): string {
  const name = random.chance(0.4)
    ? random.pick(['trace_id', 'user', 'level', 'http.status', 'a-b', 'a.b', 'n'])
    : fieldName(random);
  // Loki rejects names without letters and digits, and the store has its own fields.
  return /^_|^$/.test(name) || !/[a-z\d]/i.test(name) ? 'meta' : name;
}

export function metadataValue(random: Random): string {
  const text = random.chance(0.3) ? hex(random, 8) : anyText(random);
  return text === '' ? 'none' : text;
}

/** A value that fits a name, or any other. */
export function eventValue(random: Random, name: string): string {
  if (random.chance(0.15)) return anyText(random);
  switch (name.replace(/^.*\./, '')) {
    case 'level':
      return random.pick(levels);
    case 'status':
      return random.pick(['200', '201', '404', '500']);
    case 'method':
      return random.pick(methods);
    case 'path':
      return random.pick(urls);
    case 'duration':
      return random.pick(durations);
    case 'bytes':
      return random.chance(0.5) ? String(random.below(100_000)) : random.pick(sizes);
    case 'name':
      return random.pick(users);
    case 'id':
      return String(random.below(50));
    case 'trace_id':
      return hex(random, 8);
    default:
      return anyText(random);
  }
}

/** The columns that VictoriaLogs derives from an OpenTelemetry record and its scope. */
export function recordFields(random: Random): Labels {
  const number = random.chance(0.3) ? 0 : random.between(1, 25);
  const text = random.chance(0.5) ? severityText(number) : random.pick(['INFO', 'Error', 'warn', 'Fehler']);
  return {
    severity_number: String(number),
    severity_text: text,
    ...(random.chance(0.6) ? { trace_id: random.chance(0.2) ? '0'.repeat(32) : hex(random, 32) } : {}),
    ...(random.chance(0.3) ? { span_id: random.chance(0.2) ? '0'.repeat(16) : hex(random, 16) } : {}),
    ...(random.chance(0.6)
      ? { 'scope.name': random.pick(['unknown', 'shop.web']), 'scope.version': random.pick(['unknown', '1.2']) }
      : {}),
    ...(random.chance(0.2) ? { 'scope.attributes.tier': random.pick(['gold', '2']) } : {}),
  };
}
