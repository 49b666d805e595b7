import { addEntries } from '../../../logql/metric/index.js';
import type { LeafEngine, LeafRequest } from '../../../logql/metric/index.js';
import { sampleEvaluator } from '../../../logql/lines/evaluator.js';
import { LinePacer } from '../../../logql/lines/line-pacer.js';
import { Pacer } from '../../../base/pace/pacer.js';
import type { RangeAggregation, Stage } from '../../../logql/ast.js';
import { compileExtractor, type SampleExtractor } from '../../../logql/pipeline/extractor.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, exact, fieldName, matcher, not, or, regexp } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import { levelNames } from '../../../victoria/names/level-words.js';
import { missingLineRows } from '../../plan/missing-lines.js';
import type { LeafPlan } from '../../plan/types.js';
import type { LeafPush } from '../../plan/types.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import type { LeafContext } from '../context.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import { countRows, entryOf, readEntries, rowsOfStreams, type RowRequest } from '../rows.js';
import {
  countByShape,
  countGroups,
  countManyGroups,
  sumOf,
  type Buckets,
  type CountRequest,
  type ShapeCount,
} from './counting.js';
import { excessRows } from './excess.js';
import type { Facts } from './facts.js';
import { Groups, hasName, type DecidingFields, type Group, type Grouping } from './grouping.js';
import type { Inventory } from './inventory.js';
import { levelQuestion, withLevels, type Cutting, type LineQuestion } from './shapes.js';

/** Groups for each series that may be answered: fields that are dropped make several of one. */
const spareGroups = 4;
/** How long the backend is not asked again for what had too many groups. */
const refusedMs = 600_000;

/** A leaf and all that is known of the rows it reads. */
export interface Parts {
  readonly plan: LeafPlan & { readonly push: LeafPush };
  readonly request: LeafRequest;
  readonly context: LeafContext;
  readonly buckets: Buckets;
  readonly inventory: Inventory;
  readonly deciding: DecidingFields;
  readonly facts: Facts;
  readonly grouping: Grouping;
  /** What lines are asked; undefined where nothing but their level matters. */
  readonly lines: LineQuestion | undefined;
}

/** What was counted: groups by their columns, and lines by level where nothing but the line tells it. */
export interface Counted {
  readonly groups: readonly Group[];
  /** How the lines of the other groups were counted; `rows` where they have to be read. */
  readonly others: ShapeCount | 'none' | 'rows';
}

/** What is still to be added to what was counted, or taken away. */
export interface Remainder {
  /** Rows that were counted twice. */
  readonly excess: readonly BackendRow[];
  readonly facts: Facts;
  /** Rows of the selection. */
  readonly selectedRows: number;
}

/** One leaf's statistics on their way into an engine. */
export class Statistics {
  readonly #parts: Parts;
  readonly #groups: Groups;
  /** Rows that have a line, all filters of the backend applied. */
  readonly #filter: LogsqlFilter;
  readonly #ofRow: SampleExtractor;
  readonly #ofGroup: SampleExtractor;
  readonly #readsLevels: boolean;

  constructor(parts: Parts) {
    const { plan, context, deciding, facts } = parts;
    const { range, pushed } = plan.leaf;
    const { reader, naming } = context;
    this.#parts = parts;
    this.#readsLevels = hasName(plan.push.names, detectedLevelName) && naming.scansBodies;
    this.#groups = new Groups(reader, deciding.all, this.#readsLevels);
    this.#filter =
      facts.missing === 0 ? plan.logs.filter : and(plan.logs.filter, not(missingLineRows(naming)));
    this.#ofRow = compileExtractor(range, pushed);
    this.#ofGroup = compileExtractor(
      withStages({ ...range, op: 'count_over_time' }, plan.push.stages),
      pushed,
    );
  }

  /** Whether it would be made the same with these facts. */
  isRight({ isHidden, missing, odd }: Facts): boolean {
    const { facts } = this.#parts;
    return facts.isHidden === isHidden && facts.missing > 0 === missing > 0 && odd === 0;
  }

  /** Asks the backend. */
  async count(): Promise<Counted | Declined> {
    const { inventory, deciding, lines, plan } = this.#parts;
    const cutting = lines === undefined ? undefined : await this.#cutting(lines, plan.selection);
    if (cutting !== undefined && isDeclined(cutting)) return cutting;
    const withoutLevel = [...inventory.streams.values()].filter(({ level }) => level === undefined).length;
    const areUndecided = this.#readsLevels && withoutLevel > 0;
    const areAllUndecided = areUndecided && withoutLevel === inventory.streams.size && !deciding.mayTellLevel;
    const [groups, others] = await Promise.all([
      areAllUndecided ? [] : this.#countGroups(cutting),
      areUndecided ? this.#countByShape(cutting) : ('none' as const),
    ]);
    if (isDeclined(groups)) return groups;
    if (groups.some((group) => this.#groups.mayBeRewritten(group)) && (await this.#isRewritten()))
      return decline('rewritten-numbers');
    return { groups, others };
  }

  /** Rows that were pushed before. */
  async excess({ suspects }: Facts): ReturnType<typeof excessRows> {
    const { plan, context, buckets, inventory, deciding } = this.#parts;
    if (plan.push.measure === 'presence') return [];
    const { range } = buckets;
    const { streams } = inventory;
    const { memory } = context.limits;
    const asked = { ...context, memory, filter: this.#filter, range, streams, suspects };
    return excessRows({ ...asked, fields: deciding.all });
  }

  /** Adds everything up. */
  async addTo(into: LeafEngine, { groups, others }: Counted, remainder: Remainder): Promise<void> {
    const { excess, facts, selectedRows } = remainder;
    const { context, request } = this.#parts;
    const pacer = new Pacer(request.signal);
    for (const group of groups) {
      if (this.#groups.isDecided(group)) this.#addGroup(group, into);
      const pause = pacer.due();
      if (pause !== undefined) await pause;
    }
    if (typeof others === 'object') {
      for (const group of others.groups) {
        this.#addGroup(group, into);
        const pause = pacer.due();
        if (pause !== undefined) await pause;
      }
    }
    for (const row of excess) {
      const entry = entryOf(context.reader.read(row));
      const sample = this.#ofRow(entry);
      if (sample !== undefined) into.engine.add(sample.labels, entry.timestampNs, -sample.value);
    }
    if (facts.missing > 0) await this.#addMissing(into, selectedRows);
    if (others === 'rows') await this.#addUndecided(into, selectedRows, []);
    else if (others !== 'none' && others.untold !== undefined)
      await this.#addUndecided(into, selectedRows, others.untold);
  }

  #addGroup(group: Group, { engine, checkSeries }: LeafEngine): void {
    const { context, plan } = this.#parts;
    const sum = sumOf(group);
    const isBytes = plan.push.measure === 'bytes';
    context.counts.counted(isBytes ? 0 : sum, isBytes ? sum : 0);
    this.#groups.add(group, this.#ofGroup, engine);
    checkSeries();
  }

  /** @param cutting how lines are told apart, where they matter */
  async #countGroups(cutting: Cutting | undefined): Promise<readonly Group[] | Declined> {
    const { plan, lines } = this.#parts;
    const asked = this.#countRequest(this.#filter);
    if (cutting !== undefined) {
      const accepts = (group: Pick<Group, 'stream' | 'get'>): boolean => this.#groups.isDecided(group);
      const counted = await this.#unlessRefused(lines?.key ?? '', () =>
        countByShape({ ...asked, cutting, accepts }),
      );
      return isDeclined(counted) ? counted : counted.groups;
    }
    return plan.push.names === 'all'
      ? this.#unlessRefused('groups', () => countManyGroups(asked))
      : countGroups(asked);
  }

  async #countByShape(lines: Cutting | undefined): Promise<ShapeCount | 'rows'> {
    const { plan } = this.#parts;
    const { filter, selection } = this.#undecidedRows();
    const levels = await this.#cutting(levelQuestion, and(plan.selection, selection));
    if (isDeclined(levels)) return 'rows';
    const cutting = lines === undefined ? levels : withLevels(lines, levels);
    const asked = this.#countRequest(and(this.#filter, filter));
    const accepts = (group: Pick<Group, 'stream' | 'get'>): boolean => !this.#groups.isDecided(group);
    const kind = `shapes ${this.#parts.lines?.key ?? ''}`;
    const counted = await this.#unlessRefused(kind, () => countByShape({ ...asked, cutting, accepts }));
    return isDeclined(counted) ? 'rows' : counted;
  }

  #cutting(question: LineQuestion, selection: LogsqlFilter): Promise<Cutting | Declined> {
    const { context, buckets, inventory } = this.#parts;
    const rows = rowsOfStreams(inventory.listed);
    return context.shapes.of(question, { ...context, selection, range: buckets.range, rows });
  }

  #countRequest(filter: LogsqlFilter): CountRequest {
    const { plan, request, context, grouping, buckets } = this.#parts;
    const { leaf, limits } = request;
    // Every group is a series where all labels are seen; reading rows finds out sooner that there are too many of them.
    const isBounded = plan.push.names === 'all' && leaf.isRoot && limits.maxSeries > 0;
    const maxGroups = isBounded ? limits.maxSeries * spareGroups : Infinity;
    const { memory } = limits;
    const { signal } = request;
    return {
      upstream: context.upstream,
      filter,
      push: plan.push,
      grouping,
      buckets,
      maxGroups,
      memory,
      signal,
    };
  }

  /** Does not ask again for a while what had too many groups. */
  async #unlessRefused<Result extends object>(
    kind: string,
    ask: () => Promise<Result | Declined>,
  ): Promise<Result | Declined> {
    const { context, plan, grouping } = this.#parts;
    const key = JSON.stringify([context.owner, kind, grouping.columns, printFilter(plan.selection)]);
    const refusal = context.refusals.get(key);
    if (refusal !== undefined) return refusal;
    const result = await ask();
    if (isDeclined(result)) context.refusals.set(key, result, 0, refusedMs);
    return result;
  }

  /** Whether there are values such as 1_000, which the backend groups as 1000. */
  async #isRewritten(): Promise<boolean> {
    const { context, buckets, deciding, plan } = this.#parts;
    const underscored = or(...deciding.all.map((name) => regexp(name, '^[0-9]+_[0-9_]*$')));
    return (await countRows(context.upstream, and(plan.selection, underscored), buckets.range)) > 0;
  }

  async #addMissing(into: LeafEngine, selectedRows: number): Promise<void> {
    const { plan, context } = this.#parts;
    const rows = missingLineRows(context.naming);
    await this.#addRows(into, {
      filter: and(plan.logs.filter, rows),
      selection: and(plan.selection, rows),
      columns: undefined,
      selectedRows,
    });
  }

  /** Rows of streams without a level, in so far as no stored field tells it; the rows and others that are asked for with them. */
  #undecidedRows(): Record<'filter' | 'selection', LogsqlFilter> {
    const { context, deciding } = this.#parts;
    const labels = new Set(
      [...levelNames, detectedLevelName].flatMap((name) => context.naming.fieldsOf(name)),
    );
    const selection: LogsqlFilter = {
      kind: 'stream',
      groups: [[...labels].map((name) => matcher(name, '=', ''))],
    };
    const unfilled = deciding.hasOtlp ? and() : and(...deciding.levels.map((name) => exact(name, '')));
    return { selection, filter: and(selection, unfilled) };
  }

  /** Reads them, the repeated ones too, which are taken out as excess. */
  async #addUndecided(into: LeafEngine, selectedRows: number, pipes: readonly LogsqlPipe[]): Promise<void> {
    const { plan, deciding } = this.#parts;
    const { filter, selection } = this.#undecidedRows();
    await this.#addRows(into, {
      filter: and(this.#filter, filter),
      selection: and(plan.selection, selection),
      pipes,
      columns: ['_time', '_stream', '_msg', ...deciding.all].map(fieldName),
      mayRepeat: false,
      selectedRows,
      accepts: (row) => !this.#groups.isDecided({ stream: row['_stream'] ?? '{}', get: (name) => row[name] }),
    });
  }

  async #addRows({ engine, checkSeries }: LeafEngine, rows: Omit<RowRequest, 'range'>): Promise<void> {
    const { context, request, buckets } = this.#parts;
    const { signal } = request;
    const { range, pushed } = this.#parts.plan.leaf;
    const extract = sampleEvaluator(range, pushed, { workers: context.workers, signal });
    const pacer = new LinePacer(signal);
    for await (const batch of readEntries({ ...rows, range: buckets.range }, context)) {
      await addEntries(engine, extract, batch.map(entryOf), pacer);
      checkSeries();
    }
  }
}

function withStages(range: RangeAggregation, stages: readonly Stage[]): RangeAggregation {
  return { ...range, range: { ...range.range, query: { ...range.range.query, stages } } };
}
