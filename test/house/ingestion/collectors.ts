import { parse } from 'yaml';
import { configuration } from './guide.js';

/** A request that stores a line as the collector sends it, or in an equivalent form if the embedded backend lacks its protocol. */
export interface Push {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Collector {
  /** The name of its row in the guide's table. */
  readonly name: string;
  /** The VictoriaLogs address in its configuration, without parameters. */
  readonly address: string;
  push(line: string, atNs: bigint): Push;
}

type Fields = Readonly<Record<string, unknown>>;

const pod = { namespace: 'shop', pod: 'web-1', container: 'web' };

export const collectors: readonly Collector[] = [
  vlagent('vlagent', ''),
  vlagent('vlagent, whole lines', '-kubernetesCollector.msgField=none'),
  vector(),
  fluentBit(),
  loki('Grafana Alloy', alloyUrl(), pod, (line) => levelOf(line)),
  promtail(),
  openTelemetry(),
  filebeat(),
  syslog(),
  journald(),
  datadog(),
  withoutParameter(),
];

function vlagent(name: string, more: string): Collector {
  const flags = flagsOf(`${configuration('vlagent.sh')} ${more}`);
  const flag = (option: string): string | undefined => flags.get(`kubernetesCollector.${option}`);
  const { pathname } = new URL(flags.get('remoteWrite.url') ?? '');
  const common = {
    'kubernetes.container_name': pod.container,
    'kubernetes.pod_name': pod.pod,
    'kubernetes.pod_namespace': pod.namespace,
    'kubernetes.container_id': 'containerd://0123456789abcdef',
    'kubernetes.pod_ip': '10.0.0.7',
    'kubernetes.pod_node_name': 'node-1',
    ...(flag('includePodLabels') === 'false' ? {} : { 'kubernetes.pod_labels.app': 'web' }),
  };
  // The collector sends these rows in a binary format.
  const path = jsonLinesPath({
    _stream_fields:
      flag('streamFields') ?? 'kubernetes.container_name,kubernetes.pod_name,kubernetes.pod_namespace',
    _msg_field: flag('msgField') ?? 'message,msg,log',
    ignore_fields: flag('ignoreFields'),
  });
  return {
    name,
    address: pathname,
    push: (line, atNs) => {
      const parsed = parsedJson(line);
      const fields = Object.keys(parsed).length > 0 ? parsed : { _msg: line };
      return jsonLines(path, { ...common, ...fields, _time: String(atNs) });
    },
  };
}

function vector(): Collector {
  const { uri } = (parse(configuration('vector.yaml')) as { sinks: { victorialogs: { uri: string } } }).sinks
    .victorialogs;
  const url = new URL(uri);
  return {
    name: 'Vector',
    address: url.pathname,
    push: (line, atNs) =>
      jsonLines(url.pathname + url.search, {
        ...pod,
        level: null,
        ...levelOf(line),
        message: line,
        timestamp: String(atNs),
      }),
  };
}

function fluentBit(): Collector {
  const [, uri = ''] = /^ +URI +(\S+)$/m.exec(configuration('fluent-bit.conf')) ?? [];
  const [path = ''] = uri.split('?');
  const kubernetes = {
    pod_name: pod.pod,
    namespace_name: pod.namespace,
    container_name: pod.container,
    ...{ pod_id: 'e9f2963f', pod_ip: '10.0.0.7', host: 'node-1', docker_id: 'c9898099' },
    ...{ container_hash: 'web@sha256:7ac0fd35', container_image: 'web:1.2' },
  };
  return {
    name: 'Fluent Bit',
    address: path,
    push: (line, atNs) =>
      jsonLines(uri, { time: String(atNs), stream: 'stdout', _p: 'F', log: line, kubernetes }),
  };
}

function alloyUrl(): string {
  return /\burl = "([^"]+)"/.exec(configuration('config.alloy'))?.[1] ?? '';
}

function promtail(): Collector {
  const { clients, scrape_configs: scrapes } = parse(configuration('promtail.yaml')) as {
    clients: { url: string }[];
    scrape_configs: { static_configs: { labels: Record<string, string> }[] }[];
  };
  const { __path__: glob = '', ...labels } = scrapes[0]?.static_configs[0]?.labels ?? {};
  return loki(
    'Promtail',
    clients[0]?.url ?? '',
    { ...labels, filename: glob.replace('*', 'app') },
    () => ({}),
  );
}

function withoutParameter(): Collector {
  const url = new URL(alloyUrl());
  url.searchParams.delete('disable_message_parsing');
  return loki('Loki push without the parameter', url.href, pod, () => ({}));
}

/** Loki clients send protobuf, which stores the same as JSON (test/plugins/embedded-backend/insert.test.ts). */
function loki(
  name: string,
  address: string,
  labels: Fields,
  metadata: (line: string) => Readonly<Record<string, string>>,
): Collector {
  const url = new URL(address);
  return {
    name,
    address: url.pathname,
    push: (line, atNs) => ({
      path: url.pathname + url.search,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ streams: [{ stream: labels, values: [[String(atNs), line, metadata(line)]] }] }),
    }),
  };
}

function openTelemetry(): Collector {
  const { logs_endpoint: endpoint, headers } = (
    parse(configuration('otel-collector.yaml')) as {
      exporters: { otlp_http: { logs_endpoint: string; headers: Record<string, string> } };
    }
  ).exporters.otlp_http;
  const attributes = {
    'k8s.namespace.name': pod.namespace,
    'k8s.pod.name': pod.pod,
    'k8s.container.name': pod.container,
    ...{ 'k8s.pod.uid': '49cc7c1f', 'k8s.container.restart_count': '0' },
    ...{
      'log.iostream': 'stdout',
      logtag: 'F',
      'log.file.path': '/var/log/pods/shop_web-1_49cc7c1f/web/0.log',
    },
    // VictoriaLogs adds these to records without a severity and a scope.
    ...{
      severity_number: '0',
      severity_text: 'Unspecified',
      'scope.name': 'unknown',
      'scope.version': 'unknown',
    },
  };
  return {
    name: 'OpenTelemetry Collector',
    address: new URL(endpoint).pathname,
    push: (line, atNs) =>
      jsonLines('/insert/jsonline', { ...attributes, _msg: line, _time: String(atNs) }, headers),
  };
}

function filebeat(): Collector {
  const output = (
    parse(configuration('filebeat.yml')) as {
      'output.elasticsearch': { hosts: string[]; parameters: Record<string, string> };
    }
  )['output.elasticsearch'];
  const path = jsonLinesPath(output.parameters);
  return {
    name: 'Filebeat',
    address: new URL('_bulk', output.hosts[0]).pathname,
    // The body of a bulk request consists of these lines with actions between them, and has the same parameters.
    push: (line, atNs) =>
      jsonLines(path, {
        '@timestamp': new Date(Number(atNs / 1_000_000n)).toISOString(),
        message: line,
        service: 'shop',
        host: { name: 'vm-1' },
        log: { offset: Number(atNs % 1000n), file: { path: '/var/log/shop/app.log', inode: '2' } },
        input: { type: 'filestream' },
        ecs: { version: '8.0.0' },
        agent: { id: 'i', name: 'vm-1', type: 'filebeat', version: '8.17.0' },
      }),
  };
}

function syslog(): Collector {
  const [, port = ''] = /@@localhost:(\d+);/.exec(configuration('rsyslog.conf')) ?? [];
  const flags = flagsOf(configuration('victoria-logs.sh'));
  const streamFields = JSON.parse(flags.get('syslog.streamFields.tcp') ?? '[]') as string[];
  const fields = {
    ...{ hostname: 'vm-1', app_name: 'shop', proc_id: '77', msg_id: '-', format: 'rfc5424' },
    ...{ priority: '11', facility: '1', facility_keyword: 'user', severity: '3', level: 'error' },
  };
  return {
    name: 'syslog',
    address: flags.get('syslog.listenAddr.tcp') === `:${port}` ? 'tcp' : '',
    push: rowsOf(fields, { _stream_fields: streamFields.join() }),
  };
}

function journald(): Collector {
  const [, url = ''] = /^URL=(.+)$/m.exec(configuration('journal-upload.conf')) ?? [];
  const flags = flagsOf(configuration('victoria-logs.sh'));
  const fields = {
    ...{
      _HOSTNAME: 'vm-1',
      _SYSTEMD_UNIT: 'shop.service',
      _PID: '77',
      _UID: '1000',
      SYSLOG_IDENTIFIER: 'shop',
    },
    ...{ _BOOT_ID: 'b', _MACHINE_ID: 'm', _SOURCE_REALTIME_TIMESTAMP: '1795600000000000' },
    ...{ PRIORITY: '3', level: 'error' },
  };
  return {
    name: 'journald',
    address: `${new URL(url).pathname}/upload`,
    push: rowsOf(fields, {
      _stream_fields: flags.get('journald.streamFields'),
      ignore_fields: flags.get('journald.ignoreFields'),
    }),
  };
}

function datadog(): Collector {
  const { logs_config: logs } = parse(configuration('datadog.yaml')) as {
    logs_config: { logs_dd_url: string };
  };
  const flags = flagsOf(configuration('victoria-logs.sh'));
  const fields = {
    ...{ hostname: 'vm-1', service: 'shop', ddsource: 'nodejs', status: 'error' },
    // Tags become fields.
    ...{ env: 'prod', version: '1.2' },
  };
  return {
    name: 'Datadog agent',
    address: new URL('/api/v2/logs', logs.logs_dd_url).pathname,
    push: rowsOf(fields, { _stream_fields: flags.get('datadog.streamFields') }),
  };
}

function rowsOf(fields: Fields, parameters: Readonly<Record<string, string | undefined>>): Collector['push'] {
  const path = jsonLinesPath(parameters);
  return (line, atNs) => jsonLines(path, { ...fields, _msg: line, _time: String(atNs) });
}

function jsonLinesPath(parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return `/insert/jsonline?${new URLSearchParams(given).toString()}`;
}

function jsonLines(path: string, record: Fields, headers: Readonly<Record<string, string>> = {}): Push {
  return {
    path,
    headers: { 'Content-Type': 'application/x-ndjson', ...headers },
    body: `${JSON.stringify(record)}\n`,
  };
}

/** The command-line flags in a shell script, by name. */
function flagsOf(script: string): ReadonlyMap<string, string> {
  const flags = script.matchAll(/(?<=\s)-([\w.]+)(?:=(?:'([^']*)'|(\S+)))?/g);
  return new Map(Array.from(flags, ([, name = '', quoted, plain = '']) => [name, quoted ?? plain]));
}

function parsedJson(line: string): Fields {
  try {
    return JSON.parse(line) as Fields;
  } catch {
    return {};
  }
}

/** The metadata that a pipeline stage of the configuration extracts from a JSON line. */
function levelOf(line: string): Readonly<Record<string, string>> {
  const { level } = parsedJson(line);
  return typeof level === 'string' ? { level } : {};
}
