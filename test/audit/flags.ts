import { join } from 'node:path';
import { builtInDefinitions, packageRoot, type OptionDefinition } from '../../core/kernel/options/index.js';
import { loadPipeline, type Pipeline } from '../../core/kernel/pipeline/index.js';
import { flagsTable } from './flags-table.js';
import { expect, same, type Claim, type Section } from './section.js';

const file = join(packageRoot(), 'pipelines/reference-compatible.yaml');
const definitions = builtInDefinitions();

/** The options of a pipeline with these flags and variables. */
async function loaded(
  flags: ReadonlyMap<string, string>,
  env: Readonly<Record<string, string>> = {},
): Promise<Pipeline> {
  const { pipeline, findings } = await loadPipeline(file, { flags, env });
  const refused = findings.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  if (pipeline === undefined) throw new Error(refused.join('; '));
  return pipeline;
}

function valueOf(pipeline: Pipeline, { owner, key }: OptionDefinition): unknown {
  const sections: Readonly<Record<string, unknown>> = {
    server: pipeline.server,
    names: pipeline.names,
    limits: pipeline.limits,
    telemetry: pipeline.telemetry,
  };
  const plugins = [...pipeline.stages, ...pipeline.endpoints, ...pipeline.services];
  const options = sections[owner] ?? plugins.find(({ use }) => use === owner)?.options;
  expect(options !== undefined, `no part of the pipeline is ${owner}`);
  return (options as Readonly<Record<string, unknown>>)[key];
}

function isNone(value: unknown): boolean {
  return value === undefined || value === '' || ['[]', '{}'].includes(JSON.stringify(value));
}

let unset: Promise<Pipeline> | undefined;

async function hasDefault(flag: string, fallback: string): Promise<void> {
  const definition = definitions.find((each) => each.flag === flag);
  expect(definition !== undefined, `there is no flag -${flag}`);
  const actual = valueOf(await (unset ??= loaded(new Map())), definition);
  if (fallback === '?') return;
  if (fallback === '-') {
    expect(isNone(actual), `the default is ${JSON.stringify(actual)}`);
    return;
  }
  const specified = await Promise.all(
    fallback
      .split('|')
      .map(async (text) => JSON.stringify(valueOf(await loaded(new Map([[flag, text]])), definition))),
  );
  expect(
    specified.includes(JSON.stringify(actual)),
    `the default is ${JSON.stringify(actual)} and not ${fallback}`,
  );
}

async function readsVariable(flag: string, env: string, value: string): Promise<void> {
  const definition = definitions.find((each) => each.flag === flag);
  expect(definition !== undefined, `there is no flag -${flag}`);
  const [byFlag, byVariable] = await Promise.all([
    loaded(new Map([[flag, value]])),
    loaded(new Map(), { [env]: value }),
  ]);
  same(valueOf(byVariable, definition), valueOf(byFlag, definition), `${env}=${value}`);
}

function claimOf({ line, flag, fallback, env, value }: (typeof flagsTable)[number]): Claim {
  const told = { '-': 'no default', '?': 'a default that is left open' }[fallback];
  return {
    lines: line,
    says: `\`-${flag}\`${env === '-' ? '' : ` or \`${env}\``}, ${told ?? `by default \`${fallback.replace('|', '` or `')}\``}`,
    isQuick: true,
    probe: async () => {
      await hasDefault(flag, fallback);
      if (env !== '-') await readsVariable(flag, env, value);
    },
  };
}

/** Flags with values at which a test proxy cannot start, or that require another flag. */
const ofTheMachine: ReadonlySet<string> = new Set(['listen', 'admin-listen', 'backend']);

export const flags: Section = {
  title: 'Flags, variables and defaults',
  claims: [
    ...flagsTable.map(claimOf),
    {
      lines: '161, 430, 488, 521, 537',
      says: 'a proxy starts with all flags at their defaults, and with the three deprecated ones',
      probe: async (lab) => {
        const given = flagsTable.filter(
          ({ flag, fallback }) => !['-', '?'].includes(fallback) && !ofTheMachine.has(flag),
        );
        const site = await lab.site(
          Object.fromEntries(given.map(({ flag, fallback }) => [flag, fallback.split('|')[0] ?? ''])),
        );
        same((await site.get('/alive')).status, 200, '/alive');
      },
    },
    {
      lines: '71',
      says: 'LABEL_STYLE and METADATA_FIELD_MODE of the environment do not count',
      isQuick: true,
      probe: async () => {
        const { names } = await loaded(new Map(), {
          LABEL_STYLE: 'passthrough',
          METADATA_FIELD_MODE: 'native',
        });
        same([names.labelStyle, names.metadataFieldMode], ['underscores', 'translated'], 'the modes');
      },
    },
    {
      lines: '83, 87-91',
      says: 'all combinations of the four settings of names can be started',
      isQuick: true,
      probe: async () => {
        for (const style of ['underscores', 'passthrough'])
          for (const mode of ['translated', 'hybrid', 'native'])
            for (const names of ['auto', 'reject', 'accept'])
              for (const browse of ['auto', 'on', 'off'])
                await loaded(
                  new Map([
                    ['label-style', style],
                    ['metadata-field-mode', mode],
                    ['logql-dotted-names', names],
                    ['label-browse-extensions', browse],
                  ]),
                );
      },
    },
    {
      lines: '528-530, 573',
      says: 'the three deprecated flags are taken, without effect and with a warning',
      isQuick: true,
      probe: async () => {
        for (const flag of [
          'drilldown-field-batch-window-ms',
          'drilldown-field-batch-max-fields',
          'drilldown-max-stats-buckets',
        ]) {
          const { pipeline, findings } = await loadPipeline(file, {
            flags: new Map([[flag, '7']]),
            env: {},
          });
          expect(pipeline !== undefined, `-${flag} is refused`);
          expect(
            findings.some(({ severity, message }) => severity === 'warning' && message.includes(flag)),
            `-${flag} is not warned of`,
          );
        }
      },
    },
  ],
};
