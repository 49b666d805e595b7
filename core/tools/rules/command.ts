import { planSettingsOf } from '../../engine/plan/explain/of-pipeline.js';
import { systemClock } from '../../kernel/plugin/exchange.js';
import { UsageError } from '../../kernel/options/index.js';
import type { Pipeline } from '../../kernel/pipeline/index.js';
import type { Io } from '../../program/io.js';
import { everything, query } from '../../victoria/logsql/build.js';
import { Naming } from '../../victoria/names/naming.js';
import { withOtlpConfig } from '../../victoria/names/otlp-config.js';
import { readPipelineArgs } from '../pipeline-args.js';
import { checkRules } from './check-rules.js';
import { type ConversionContext, convertFile, type ConvertedFile } from './convert-rules.js';
import { printRulesReport } from './report-rules.js';
import { readRuleFiles } from './rule-files.js';
import { convertFlags, convertSettings, type ConvertSettings } from './settings.js';
import { type NamesInBackend, StoredLabels } from './stored-labels.js';
import { type TenantAccess, TenantJobs } from './tenant-jobs.js';
import { vmalertFiles, writeVmalertFiles } from './vmalert-files.js';

const about = `
Converts rules of a Loki ruler for vmalert. A rule becomes LogsQL (type: vlogs) if a single LogsQL query gives the same series; every other
rule stays LogQL (type: prometheus), to be evaluated through ref-proxy, and the report says why. FILE is a rule file or a directory. The
flags of serve apply: names of labels, tenants and the backend are those of the pipeline. Exit status: 0 success, 1 a rule is invalid, or
-check found a difference, 2 the command line or a file cannot be used. docs/rules.md has the whole procedure.
`;

/** `ref-proxy rules convert`: rules of a Loki ruler as rules of vmalert (docs/rules.md). */
export async function rulesCommand(args: readonly string[], io: Io): Promise<number> {
  const help = { usage: 'rules convert [flags] FILE...', flags: convertFlags, about };
  const line = await readPipelineArgs(args, help, io);
  if (line === undefined) return 0;
  const { own, positionals, load } = line;
  const [action, ...paths] = positionals;
  if (action !== 'convert') throw new UsageError(['rules has one action: rules convert FILE...']);
  if (paths.length === 0) throw new UsageError(['rules convert needs a file or a directory']);
  const settings = convertSettings(own, systemClock.nowMs());
  const files = await readRuleFiles(paths, settings);
  const pipeline = await load(callsBackend(own));
  if (pipeline === undefined) return 1;
  const jobs = await TenantJobs.start(pipeline, callsBackend(own), io);
  try {
    const contexts = new Contexts(pipeline, jobs, settings);
    const converted: ConvertedFile[] = [];
    for (const file of files) converted.push(convertFile(file, await contexts.of(file.tenant)));
    if (settings.output !== undefined) await writeVmalertFiles(settings.output, vmalertFiles(converted));
    const { times } = settings;
    const checked = times && (await checkRules(converted, pipeline, jobs, { times }, io));
    io.out(printRulesReport({ files: converted, checked, times: times?.length ?? 0 }, settings.form));
    const isInvalid = converted.some(({ groups }) =>
      groups.some(({ rules }) => rules.some((rule) => rule.isInvalid)),
    );
    const isDifferent = checked?.some(({ equal }) => equal < (times?.length ?? 0)) === true;
    return isInvalid || isDifferent ? 1 : 0;
  } finally {
    await jobs.close();
  }
}

function callsBackend(own: ReadonlyMap<string, string>): boolean {
  return own.get('stored-names') !== 'as-written' || own.get('check') === 'true';
}

/** The tenant, its naming and its stored names, by X-Scope-OrgID. */
class Contexts {
  readonly #pipeline: Pipeline;
  readonly #jobs: TenantJobs;
  readonly #settings: ConvertSettings;
  readonly #naming: Naming;
  readonly #known = new Map<string | undefined, ConversionContext>();

  constructor(pipeline: Pipeline, jobs: TenantJobs, settings: ConvertSettings) {
    this.#pipeline = pipeline;
    this.#jobs = jobs;
    this.#settings = settings;
    this.#naming = new Naming(withOtlpConfig(pipeline.names, pipeline.limits));
  }

  async of(orgId: string | undefined): Promise<ConversionContext> {
    const known = this.#known.get(orgId);
    if (known !== undefined) return known;
    const context = await this.#jobs.run(orgId, async (access) => {
      const { tenant } = access;
      const naming = this.#naming.forTenant(tenant);
      const names = this.#settings.asksNames ? await this.#namesOf(access) : undefined;
      const settings = planSettingsOf(this.#pipeline);
      return { tenant, naming, labels: new StoredLabels(naming, names), settings };
    });
    this.#known.set(orgId, context);
    return context;
  }

  async #namesOf({ upstream }: TenantAccess): Promise<NamesInBackend> {
    if (upstream === undefined) throw new UsageError(['the pipeline has no stage backend']);
    const endNs = systemClock.nowNs();
    const range = { startNs: endNs - BigInt(Math.round(this.#settings.lookbackMs)) * 1_000_000n, endNs };
    const asked = { query: query(everything), range, hits: 'any' } as const;
    const streamFields = await upstream.list({ ...asked, listing: 'stream_field_names' });
    const fields = await upstream.list({ ...asked, listing: 'field_names' });
    return {
      streamFields: streamFields.map(({ value }) => value),
      fields: fields.map(({ value }) => value),
    };
  }
}
