/** Options that are valid on their own but conflict with others, or have no effect. */
import { withLine } from '../bases.js';
import { some, type Fault, type Spoiler } from '../change.js';
import { PipelineLines } from '../pipeline-lines.js';
import { added } from './options.js';

const sections: readonly string[] = ['server', 'names', 'limits', 'telemetry'];

/** Adds an option that contradicts the file. */
function contradiction(owner: string, line: string, fix: RegExp, ...before: readonly string[]): Spoiler {
  return (given) => {
    const key = /^\w+/.exec(line)?.[0];
    const keys = [line, ...before].map((each) => /^\w+/.exec(each)?.[0]);
    const isIn = sections.includes(owner) || given.entry(owner) !== undefined;
    if (!isIn || given.options.some((option) => keys.includes(option.key))) return undefined;
    const file = before.reduce(
      (text, each) => new PipelineLines(withLine(text, owner, each), given.schemas),
      given,
    );
    const fault: Fault = added(file, owner, line, fix);
    const lines = fault.text.split('\n');
    const related = before.map((each) => lines.findIndex((text) => text.trim() === each));
    return key === undefined ? undefined : { ...fault, lines: [...fault.lines, ...related] };
  };
}

export const meaningFaults: Readonly<Record<string, Spoiler>> = {
  'dotted names refused and shown': contradiction(
    'names',
    'logqlDottedNames: reject',
    /accept/,
    'labelStyle: passthrough',
  ),
  'metrics that nobody serves': contradiction('server', 'metricsListen: 127.0.0.1:9101', /instrumentation/i),
  'client certificates without an authority': contradiction(
    'server',
    'tlsRequireClientCert: true',
    /tlsClientCaFile/,
  ),
  'a certificate without a key': contradiction('server', 'tlsCertFile: cert.pem', /tlsKeyFile/),
  'an authority without a certificate': contradiction('server', 'tlsClientCaFile: ca.pem', /tlsCertFile/),
  'debug routes for everybody': (file, random) =>
    file.entry('admin') === undefined
      ? undefined
      : contradiction('server', "adminListen: ':3109'", /adminAuthToken/)(file, random),
  'least above most': contradiction('backend', 'minConcurrentMetadataScans: 99', /lower/),
  'a tenant that is no number': contradiction(
    'tenancy',
    'tenantMap: { shop: { account_id: 99999999999 } }',
    /4294967295|uint32/,
    'allowNumeric: false',
    'allowDefault: false',
  ),
  'cold routing to nowhere': contradiction('cold-route', 'enabled: true', /backend/),
  'a misspelt limit': contradiction(
    'limits',
    'tenantDefaultLimits: { max_query_lenght: 30d }',
    /max_query_length/,
  ),
  'two listeners on a port': (file, random) => {
    const served = new PipelineLines(
      withLine(file, 'telemetry', 'registerInstrumentation: true'),
      file.schemas,
    );
    const listen = served.options.find(({ key, part }) => key === 'listen' && part === 'server');
    const fault = contradiction('server', "metricsListen: ':3100'", /port/)(served, random);
    return listen?.value === "':3100'" ? fault : undefined;
  },
  'a follower that does not follow': contradiction('tier0', 'forwardHeaders: [X-Team]', /alike|backend/),
  'an option that nothing reads': (file, random) => {
    const owners = [...file.entries.map(({ use }) => use), 'server', 'telemetry'];
    const owner = random.pick(owners);
    const option = some(
      file
        .optionsOf(owner)
        .filter(
          ({ isUnread, deprecated, kind }) => (isUnread || deprecated !== undefined) && kind === 'boolean',
        ),
      random,
    );
    return option === undefined ? undefined : added(file, owner, `${option.key}: true`, /take|remove|use/);
  },
};
