import { join } from 'node:path';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import { minimalStages, pipelineOf, type CheckTextOptions } from './fake-built-ins.js';

export interface Case extends CheckTextOptions {
  readonly title: string;
  readonly text: string;
}
export interface InvalidCase extends Case {
  /** All findings in order, as `R007 14:7`. */
  readonly finds: readonly string[];
  /** Words of the first finding's message or fix. */
  readonly says?: string;
}

const whole = pipelineOf(minimalStages);
const ten = pipelineOf([
  'tenancy',
  'guard',
  'tier0',
  'label-index',
  'translate',
  'window-split',
  'cold-route',
  'peer-cache',
  'backend',
  'response-shape',
]);
const withOptions = (options: string): string =>
  pipelineOf(['tenancy', 'translate']).replace(
    'endpoints:',
    `  - use: backend\n    with:\n${options}  - use: response-shape\nendpoints:`,
  );
const withTop = (top: string): string => pipelineOf(minimalStages, top);
const withStage = (entry: string): string => pipelineOf([entry, ...minimalStages]);

export const valid: readonly Case[] = [
  {
    title: 'windows that are not kept, of whatever age',
    text: ten.replace(
      '- use: window-split',
      '- use: window-split\n    with: {enabled: false, recentCacheTtl: 5m, historyCacheTtl: 1m}',
    ),
  },
  {
    title: 'recent windows that are kept as long as those of the past',
    text: ten.replace('- use: window-split', '- use: window-split\n    with: {recentCacheTtl: 24h}'),
  },
  {
    title: 'an old Loki, asked before queries are planned',
    text: ten.replace(
      '- use: translate',
      "- use: loki-history\n    with: {url: 'http://loki:3100', until: '2026-11-01T00:00:00Z'}\n  - use: translate",
    ),
  },
  {
    title: 'followers that nobody wrote',
    text: ten
      .replace('- use: backend', '- use: backend\n    with: {forwardHeaders: [X-Team]}')
      .replace('- use: guard', '- use: guard\n    with: {maxConcurrent: 7}')
      .replace('- use: tier0', '- use: tier0\n    with: {maxPercent: 7}'),
  },
  {
    title: 'a stage of a site above the caches',
    text: ten.replace('- use: tier0', '- use: ../test/data/site-gate/index.js\n  - use: tier0'),
    path: join(packageRoot(), 'pipelines', 'site.yaml'),
  },
  {
    title: 'a stage of a site behind a cache that is off',
    text: pipelineOf([
      'tenancy',
      'tier0\n    with: {enabled: false}',
      '../test/data/site-gate/index.js',
      'translate',
      'backend',
      'response-shape',
    ]),
    path: join(packageRoot(), 'pipelines', 'site.yaml'),
  },
  {
    title: 'a flag that says what the file says',
    text: withOptions('      url: http://a\n'),
    flags: { backend: 'http://a' },
  },
  { title: 'the least that answers', text: whole },
  { title: 'the ten stages', text: ten },
  {
    title: 'the same credentials forwarded and told to the caches, in any order',
    text: ten.replace(
      /- use: (backend|tier0|label-index|window-split|peer-cache)/g,
      (entry) => `${entry}\n    with: {forwardHeaders: [${entry.includes('tier0') ? 'B, A' : 'A, B'}]}`,
    ),
  },
  {
    title: 'numbers beside a tenant map that are refused',
    text: whole,
    flags: {
      'tenant-map': '{"a":{"account_id":11}}',
      'tenant.allow-numeric': 'false',
      'tenant.allow-default': 'false',
    },
  },
  {
    title: 'a label of tenants where unknown ones are refused',
    text: whole,
    flags: { 'tenant-label': 'team', 'tenant.unknown': 'reject' },
  },
  {
    title: 'a label of tenants, and a default tenant that is meant',
    text: whole,
    flags: { 'tenant-label': 'team', 'tenant.allow-default': 'true' },
  },
  {
    title: 'numbers beside a tenant map that are meant',
    text: whole,
    flags: { 'tenant-map': '{"a":{"account_id":11}}', 'tenant.allow-numeric': 'true' },
  },
  { title: 'numbers without a tenant map', text: whole },
  { title: 'sections and lists with nothing in them', text: `${withTop('server:\nnames:\n')}services:\n` },
  { title: 'a reference with a default', text: withOptions('      maxConcurrent: ${MAX:-5}\n') },
  { title: 'a reference with a value', text: withOptions('      url: ${U}\n'), env: { U: 'http://a:1' } },
  {
    title: 'a quoted reference for a text',
    text: withOptions('      basicAuth: "${A}"\n'),
    env: { A: 'u:1' },
  },
  { title: 'an escaped reference', text: withTop('names:\n  backendDefaultMsgValue: a$${b}\n') },
  { title: 'an alias', text: withTop('limits:\n  tenantLimits: {a: &x {max_query_length: 1h}, b: *x}\n') },
  {
    title: 'two entries of one plugin with ids',
    text: withStage('tenancy').replace(
      'tenancy',
      'guard\n    id: a\n    enabled: false\n  - use: guard\n    id: b\n    enabled: false\n  - use: tenancy\n    enabled: false\n    id: c',
    ),
  },
  {
    title: 'a limit of another program that is shown to clients',
    text: withTop(
      'limits:\n  tenantDefaultLimits: {ingestion_rate_mb: 4}\n  tenantLimitsAllowPublish: [ingestion_rate_mb]\n',
    ),
  },
  { title: 'passthrough with auto', text: withTop('names: {labelStyle: passthrough}\n') },
  {
    title: 'passthrough with accept',
    text: withTop('names: {labelStyle: passthrough, logqlDottedNames: accept}\n'),
  },
  { title: 'reject without passthrough', text: withTop('names: {logqlDottedNames: reject}\n') },
  {
    title: 'metrics listener with instrumentation',
    text: withTop('server: {metricsListen: ":9100"}\ntelemetry: {registerInstrumentation: true}\n'),
  },
  {
    title: 'client certificates with all files',
    text: withTop(
      'server: {tlsRequireClientCert: true, tlsClientCaFile: a, tlsCertFile: b, tlsKeyFile: c}\n',
    ),
  },
  {
    title: 'listeners on port 0',
    text: withTop(
      'server: {listen: ":0", metricsListen: ":0"}\ntelemetry: {registerInstrumentation: true}\n',
    ),
  },
  {
    title: 'tenant ids as numbers and texts',
    text: whole.replace(
      'tenancy\n',
      'tenancy\n    with: {allowNumeric: false, unknownTenant: reject, tenantMap: {a: {account_id: 4294967295, project_id: "0"}}}\n',
    ),
  },
  { title: 'a fragment without lists', text: 'stages:\n  - use: backend\n', isFragment: true },
];

export const invalid: readonly InvalidCase[] = [
  { title: 'R001 a bracket without its end', text: 'version: 1\nstages: [\n', finds: ['R001 2:9'] },
  {
    title: 'R001 a tab',
    text: 'version: 1\nstages:\n\t- use: tenancy\n',
    finds: ['R001 3:1'],
    says: 'spaces',
  },
  {
    title: 'R001 a quote without its end',
    text: 'version: "1\n',
    finds: ['R001 1:10'],
    says: 'close it',
  },
  { title: 'R002 nothing', text: '', finds: ['R002 1:1'] },
  { title: 'R002 comments only', text: '# nothing\n', finds: ['R002 1:1'] },
  {
    title: 'R002 two documents',
    text: `${whole}---\na: 1\n`,
    finds: ['R002 10:1'],
    says: '2 YAML documents',
  },
  {
    title: 'R003 a section twice',
    text: withTop('names: {}\nnames: {}\n'),
    finds: ['R003 3:1'],
    says: 'line 2',
  },
  {
    title: 'R003 an option twice',
    text: withOptions('      url: http://a\n      url: http://b\n'),
    finds: ['R003 8:7'],
  },
  { title: 'R004 a tag', text: withTop('names: !x {}\n'), finds: ['R004 2:8'] },
  { title: 'R004 a merge key', text: withTop('names: {<<: {}}\n'), finds: ['R004 2:9'] },
  {
    title: 'R004 an alias that holds itself',
    text: withTop('limits: {tenantLimits: &a {b: *a}}\n'),
    finds: ['R004 2:31'],
  },
  {
    title: 'R005 a part of a value',
    text: withOptions('      url: http://${HOST}:9428\n'),
    env: { HOST: 'a' },
    finds: ['R005 7:12'],
    says: 'whole value',
  },
  {
    title: 'R005 two references in a value',
    text: withOptions('      url: ${A:-x}${B:-y}\n'),
    finds: ['R005 7:12'],
  },
  { title: 'R005 a bad name', text: withOptions('      url: ${9A}\n'), finds: ['R005 7:12'] },
  {
    title: 'R005 neither value nor default',
    text: withOptions('      url: ${NOWHERE}\n'),
    finds: ['R005 7:12'],
    says: '"NOWHERE" is not set and the reference has no default',
  },
  {
    title: 'R006 an unknown section',
    text: withTop('sever: {}\n'),
    finds: ['R006 2:1'],
    says: 'did you mean "server"?',
  },
  {
    title: 'R006 an unknown key of an entry',
    text: pipelineOf(['tenancy', 'translate', 'backend\n    wiht: {}', 'response-shape']),
    finds: ['R006 6:5'],
    says: 'did you mean "with"?',
  },
  {
    title: 'R006 a version of the future',
    text: whole.replace('version: 1', 'version: 2'),
    finds: ['R006 1:10'],
  },
  {
    title: 'R006 no version',
    text: whole.replace('version: 1\n', ''),
    finds: ['R006 1:1'],
    says: '"version"',
  },
  {
    title: 'R006 stages as a mapping',
    text: 'version: 1\nstages: {a: 1}\nendpoints:\n  - use: status\n',
    finds: ['R006 2:9'],
  },
  { title: 'R006 an entry that is a text', text: `${whole}  - status\n`, finds: ['R006 9:5'] },
  { title: 'R006 an entry without use', text: `${whole}  - id: a\n`, finds: ['R006 9:5'], says: '"use"' },
  {
    title: 'R006 enabled is a text',
    text: whole.replace('reference-api', 'reference-api\n    enabled: "no"'),
    finds: ['R006 9:14'],
  },
  { title: 'R006 a list as the whole file', text: '- a\n', finds: ['R006 1:1'] },
  { title: 'R006 a section that is a list', text: withTop('names: [a]\n'), finds: ['R006 2:8'] },
  {
    title: 'R007 a misspelt option of a stage',
    text: withOptions('      maxConcurent: 5\n'),
    finds: ['R007 7:7'],
    says: 'did you mean "maxConcurrent"?',
  },
  {
    title: 'R007 a misspelt option of a section',
    text: withTop('names:\n  labelStile: passthrough\n'),
    finds: ['R007 3:3'],
    says: 'section "names"',
  },
  {
    title: 'R007 a name of all objects',
    text: withTop('names:\n  constructor: 1\n  __proto__: 2\n'),
    finds: ['R007 3:3', 'R007 4:3'],
  },
  {
    title: 'R008 a text for a number',
    text: withOptions('      maxConcurrent: "5"\n'),
    finds: ['R008 7:22'],
  },
  {
    title: 'R008 a number for a text',
    text: withOptions('      timeout: 30\n'),
    finds: ['R008 7:16'],
    says: '"30s"',
  },
  {
    title: 'R008 a number for an address',
    text: withTop('server: {listen: 3100}\n'),
    finds: ['R008 2:18'],
    says: 'write ":3100"',
  },
  {
    title: 'R006 a version in quotes',
    text: whole.replace('version: 1', 'version: "1"'),
    finds: ['R006 1:10'],
    says: 'write 1 without quotes',
  },
  {
    title: 'R008 a word that is not allowed',
    text: withTop('names: {labelStyle: underscore}\n'),
    finds: ['R008 2:21'],
    says: 'did you mean "underscores"?',
  },
  {
    title: 'R008 a value from the environment',
    text: withOptions('      maxConcurrent: ${MAX}\n'),
    env: { MAX: 'many' },
    finds: ['R008 7:22'],
  },
  {
    title: 'R008 a bad variable of an option names it',
    text: whole,
    env: { LOGS_BACKEND_URL: 'nonsense' },
    finds: ['R008 5:10'],
    says: 'environment variable LOGS_BACKEND_URL',
  },
  {
    title: 'R008 a bad flag names it',
    text: whole,
    flags: { 'backend-timeout': 'soon' },
    finds: ['R008 5:10'],
    says: 'flag -backend-timeout',
  },
  {
    title: 'R010 a file to include that is not there',
    text: withStage('tenancy').replace('use: tenancy', 'include: ./nowhere.yaml'),
    finds: ['R010 3:14'],
    says: 'there is no such file',
  },
  {
    title: 'R020 a misspelt plugin',
    text: withStage('gaurd'),
    finds: ['R020 3:10'],
    says: 'did you mean "guard"?',
  },
  { title: 'R020 a path to nowhere', text: withStage('./nowhere.js'), finds: ['R020 3:10'] },
  {
    title: 'R022 an endpoint plugin among the stages',
    text: withStage('status'),
    finds: ['R022 3:10'],
    says: '"endpoints"',
  },
  {
    title: 'R022 a stage among the services',
    text: `${whole}services:\n  - use: guard\n`,
    finds: ['R022 10:10'],
    says: '"stages"',
  },
  {
    title: 'R023 a plugin that stands twice',
    text: `${whole}  - use: reference-api\n`,
    finds: ['R023 9:10'],
    says: 'line 8',
  },
  {
    title: 'R023 an id that is taken',
    text: `${whole}services:\n  - use: demo-data\n    id: tenancy\n`,
    finds: ['R023 11:9'],
    says: 'line 3',
  },
  {
    title: 'R030 a stage before what it needs',
    text: pipelineOf(['tenancy', 'window-split', 'translate', 'backend', 'response-shape']),
    finds: ['R030 4:5'],
    says: '"window-split" needs plan, which the later stage "translate" gives (line 5)',
  },
  {
    title: 'R030 one stage too late for several is told once',
    text: pipelineOf(['guard', 'tier0', 'translate', 'tenancy', 'backend', 'response-shape']),
    finds: ['R030 3:5'],
    says: '"guard", "tier0" and "translate" need tenant',
  },
  {
    title: 'R030 the last stage moved to the front',
    text: pipelineOf(['response-shape', 'tenancy', 'translate', 'backend']),
    finds: ['R030 3:5'],
    says: 'plan, which the later stage "translate" gives',
  },
  {
    title: 'R031 nobody gives a slot',
    text: pipelineOf(['tenancy', 'translate', 'response-shape']),
    finds: ['R031 5:5'],
    says: 'needs upstream, which no stage gives',
  },
  {
    title: 'R031 the giver is disabled',
    text: whole.replace('- use: backend', '- use: backend\n    enabled: false'),
    finds: ['R031 7:5'],
    says: 'enable "backend" (line 5)',
  },
  {
    title: 'R032 a slot twice',
    text: pipelineOf(['tenancy', 'translate', 'backend', 'backend\n    id: second', 'response-shape']),
    finds: ['R032 6:5'],
    says: 'line 5',
  },
  {
    title: 'R033 the last stage runs the rest',
    text: pipelineOf(['tenancy', 'translate', 'backend']),
    finds: ['R033 5:5'],
  },
  {
    title: 'R034 a stage behind the last',
    text: pipelineOf([...minimalStages, 'guard']),
    finds: ['R034 7:5'],
    says: 'move "guard" above line 6',
  },
  {
    title: 'R035 no stages',
    text: 'version: 1\nstages: []\nendpoints:\n  - use: status\n',
    finds: ['R035 2:1'],
  },
  {
    title: 'R035 all endpoints disabled',
    text: whole.replace('reference-api', 'reference-api\n    enabled: false'),
    finds: ['R035 7:1'],
  },
  {
    title: 'R040 passthrough with reject',
    text: withTop('names:\n  labelStyle: passthrough\n  logqlDottedNames: reject\n'),
    finds: ['R040 4:21'],
  },
  {
    title: 'R040 passthrough by flag',
    text: withTop('names:\n  logqlDottedNames: reject\n'),
    flags: { 'label-style': 'passthrough' },
    finds: ['R040 3:21'],
    says: 'flag -label-style',
  },
  {
    title: 'R041 metrics without instrumentation',
    text: withTop('server:\n  metricsListen: ":9100"\n'),
    finds: ['R041 3:18'],
    says: 'requires -server.register-instrumentation=true',
  },
  {
    title: 'R042 client certificates without authority',
    text: withTop('server:\n  tlsRequireClientCert: true\n'),
    finds: ['R042 3:25'],
    says: 'tls-client-ca-file is required when tls-require-client-cert is enabled',
  },
  {
    title: 'R043 a certificate without key',
    text: withTop('server: {tlsCertFile: a}\n'),
    finds: ['R043 2:23'],
  },
  {
    title: 'R043 a key without certificate',
    text: withTop('server: {tlsKeyFile: a}\n'),
    finds: ['R043 2:22'],
  },
  {
    title: 'R043 an authority without HTTPS',
    text: withTop('server: {tlsClientCaFile: a}\n'),
    finds: ['R043 2:27'],
  },
  {
    title: 'R044 peers without a secret',
    text: withStage('peer-cache\n    with: {peerDiscovery: static, peerStatic: ["a:1", "b:2"]}').replace(
      /( {2}- use: peer-cache\n.*\n)( {2}- use: tenancy\n)/,
      '$2$1',
    ),
    finds: ['R044 5:27'],
    says: '(discovery=static, peers=a:1,b:2)',
  },
  {
    title: 'R045 debug routes for everybody',
    text: `${withTop('server:\n  adminListen: ":3101"\n')}  - use: admin\n`,
    finds: ['R045 3:16'],
    says: 'non-loopback address :3101',
  },
  {
    title: 'R046 least above most',
    text: withOptions('      minConcurrentMetadataScans: 9\n'),
    finds: ['R046 7:35'],
  },
  {
    title: 'R046 an upper bound of none',
    text: withOptions('      maxConcurrentMetadataScans: 0\n'),
    finds: [],
  },
  {
    title: 'R047 a tenant id that is no uint32',
    text: whole.replace(
      'tenancy\n',
      'tenancy\n    with:\n      allowNumeric: true\n      tenantMap:\n        a: {account_id: 4294967296}\n',
    ),
    finds: ['R047 7:25'],
    says: 'uint32',
  },
  {
    title: 'R048 two listeners on one port',
    text: withTop(
      'server: {listen: "127.0.0.1:9100", metricsListen: ":9100"}\ntelemetry: {registerInstrumentation: true}\n',
    ),
    finds: ['R048 2:51'],
  },
  {
    title: 'R049 cold routing to nowhere',
    text: whole.replace(
      '- use: backend',
      '- use: cold-route\n    with:\n      enabled: true\n  - use: backend',
    ),
    finds: ['R049 7:16'],
  },
  {
    title: 'R051 a misspelt limit for all tenants',
    text: withTop('limits:\n  tenantDefaultLimits: {max_query_lenght: 30d}\n'),
    finds: ['R051 3:25'],
    says: 'did you mean "max_query_length"?',
  },
  {
    title: 'R051 a misspelt limit of one tenant',
    text: withTop('limits:\n  tenantLimits:\n    team-a:\n      max_query_serie: 5\n'),
    finds: ['R051 5:7'],
  },
  {
    title: 'R051 limits that nothing reads',
    text: withTop(
      'limits:\n  tenantDefaultLimits: {retention_stream: [], ingestion_rate_mb: 4, volume_enabled: false, otlp_config: {}}\n',
    ),
    finds: ['R051 3:25', 'R051 3:47'],
    says: 'it has no effect',
  },
  {
    title: 'R051 a misspelt limit in a flag',
    text: whole,
    flags: { 'tenant-default-limits': '{"max_query_lenght":"30d"}' },
    finds: ['R051 1:1'],
    says: 'flag -tenant-default-limits',
  },
  {
    title: 'R052 numbers beside a tenant map',
    text: whole,
    flags: { 'tenant-map': '{"team-a":{"account_id":11}}' },
    finds: ['R052 3:10'],
    says: 'set allowNumeric (-tenant.allow-numeric) to false',
  },
  {
    title: 'R058 peers and a shared cache',
    text: withStage(
      'peer-cache\n    with: {peerDiscovery: static, peerAuthToken: a, sharedCacheUrl: "redis://:hidden@cache"}',
    ).replace(/( {2}- use: peer-cache\n.*\n)( {2}- use: tenancy\n)/, '$2$1'),
    finds: ['R058 5:69'],
    says: 'remove -shared-cache-url or -peer-discovery',
  },
  {
    title: 'R052 numbers beside a file with a tenant map',
    text: whole.replace('- use: tenancy', '- use: tenancy\n    with: {tenantMapFile: tenants.yaml}'),
    finds: ['R052 3:10'],
  },
  {
    title: 'R059 an open default tenant together with other tenants of a label',
    text: whole,
    flags: { 'tenant-label': 'team' },
    finds: ['R059 3:10'],
    says: 'set allowDefault (-tenant.allow-default) to false',
  },
  {
    title: 'R059 an open default tenant beside a map that numbers cannot bypass',
    text: whole,
    flags: { 'tenant-map': '{"team-a":{"account_id":11}}', 'tenant.allow-numeric': 'false' },
    finds: ['R059 3:10'],
    says: "the backend's default account",
  },
  {
    title: 'R064 recent windows are kept longer than those of the past',
    text: ten.replace(
      '- use: window-split',
      '- use: window-split\n    with:\n      recentCacheTtl: 5m\n      historyCacheTtl: 1m',
    ),
    finds: ['R064 10:23'],
    says: 'recentCacheTtl is longer than historyCacheTtl',
  },
  {
    title: 'R065 an old Loki that has data for an unknown time',
    text: ten.replace(
      '- use: translate',
      "- use: loki-history\n    with: {url: 'http://loki:3100'}\n  - use: translate",
    ),
    finds: ['R065 8:17'],
    says: 'set until (-loki-history-until) to the time of the move',
  },
  {
    title: 'R066 an old Loki behind the plan',
    text: ten.replace(
      '- use: window-split',
      "- use: loki-history\n    with: {url: 'http://loki:3100', until: '2026-11-01T00:00:00Z'}\n  - use: window-split",
    ),
    finds: ['R066 8:10'],
    says: 'move loki-history before translate',
  },
  {
    title: 'R064 windows of the past are not kept beside recent ones of a flag',
    text: ten.replace('- use: window-split', '- use: window-split\n    with: {historyCacheTtl: 0s}'),
    flags: { 'query-range-recent-cache-ttl': '1m' },
    finds: ['R064 8:10'],
    says: 'lower recentCacheTtl (-query-range-recent-cache-ttl) or raise historyCacheTtl',
  },
  {
    title: 'R053 a plugin of which there is one in several workers',
    text: `${whole}services:\n  - use: embedded-backend\n`,
    flags: { workers: '2' },
    finds: ['R053 10:10'],
    says: 'plugin "embedded-backend" cannot run in several workers (flag -workers is 2)',
  },
  {
    title: 'R050 a cache that does not know which credentials are forwarded',
    text: ten
      .replace('- use: backend', '- use: backend\n    with: {forwardHeaders: [X-Team]}')
      .replace('- use: tier0', '- use: tier0\n    with: {forwardHeaders: []}'),
    finds: ['R050 6:28'],
    says: 'plugin "tier0" has forwardHeaders [], but plugin "backend" has forwardHeaders ["X-Team"]',
  },
  {
    title: 'R036 a stage of a site behind a cache',
    text: ten.replace('- use: translate', '- use: ../test/data/site-gate/index.js\n  - use: translate'),
    path: join(packageRoot(), 'pipelines', 'site.yaml'),
    finds: ['R036 7:5'],
    says: 'move "site-gate" above line 5',
  },
  {
    // All built-in options are read, except for deprecated ones.
    title: 'R054 an option of a site that nothing reads',
    text: ten.replace(
      '- use: tenancy',
      '- use: tenancy\n  - use: ../test/data/site-gate/index.js\n    with: {badge: red}',
    ),
    path: join(packageRoot(), 'pipelines', 'site.yaml'),
    finds: ['R054 5:19'],
    says: 'option "badge" has no effect yet',
  },
  {
    title: 'R055 a deprecated option',
    text: withTop('server:\n  responseGzip: true\n'),
    finds: ['R055 3:17'],
    says: 'use -response-compression=none',
  },
  {
    title: 'R055 a deprecated flag',
    text: whole,
    flags: { 'response-gzip': 'false' },
    finds: ['R055 1:1'],
    says: 'flag -response-gzip is deprecated',
  },
  {
    title: 'R056 a value that a flag overrides',
    text: withOptions('      maxConcurrent: 5\n      url: http://a\n'),
    flags: { backend: 'http://b', 'max-concurrent': '5' },
    finds: ['R056 8:7'],
    says: 'flag -backend overrides it',
  },
  {
    title: 'R056 a value that a variable overrides',
    text: withOptions('      url: http://a\n'),
    env: { LOGS_BACKEND_URL: 'http://b' },
    finds: ['R056 7:7'],
    says: 'environment variable LOGS_BACKEND_URL',
  },
  {
    title: 'R057 a flag of a plugin that is not there',
    text: whole,
    flags: { 'rate-limit-per-second': '5' },
    finds: ['R057 1:1'],
    says: 'the pipeline has no "guard"',
  },
  {
    title: 'R038 a variable of no flag',
    text: whole,
    env: { REF_PROXY_BACKND: 'http://a', REF_PROXY_BACKEND_TIMEOUT: '5s', REF_PROXY_PIPELINE: 'a.yaml' },
    finds: ['R038 1:1'],
    says: 'environment variable REF_PROXY_BACKND does not match any flag did you mean REF_PROXY_BACKEND?',
  },
  {
    title: 'R038 a variable whose name is no pattern',
    text: whole,
    env: { 'REF_PROXY_(': 'a' },
    finds: ['R038 1:1'],
    says: 'environment variable REF_PROXY_( does not match any flag',
  },
  {
    title: 'a variable that may be one of a plugin that is not known',
    text: whole.replace('use: tenancy', 'use: ./gate.js'),
    env: { REF_PROXY_GATE_WORD: 'a' },
    finds: ['R020 3:10'],
  },
  {
    title: 'every stage is unknown: no talk of slots',
    text: pipelineOf(['tenanci', 'translat', 'bakend', 'response-shap']),
    finds: ['R020 3:10', 'R020 4:10', 'R020 5:10', 'R020 6:10'],
  },
];
