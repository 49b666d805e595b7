/** A mutant that no test can detect, or that need not be detected. */
export interface ExplainedMutant {
  readonly file: string;
  /** The line without its indentation, because line numbers change. */
  readonly line: string;
  /** The mutated part of the line. */
  readonly broken: string;
  readonly replacement: string;
  readonly reason: string;
}

export const explained: readonly ExplainedMutant[] = [
  {
    file: 'core/wire/answer/merge/index.ts',
    line: 'if (other === undefined || byHeat(own, other) < 0) hottest.set(value, own);',
    broken: 'byHeat(own, other) < 0',
    replacement: 'byHeat(own, other) <= 0',
    reason: 'of two that are equally hot either may stay',
  },
  {
    file: 'core/cache/keys.ts',
    line: "return plugin.name === 'translate' || (plugin.kind === 'stage' && plugin.keepsAnswers === true);",
    broken: "plugin.kind === 'stage'",
    replacement: 'true',
    reason: 'for the compiler: no other kind of plugin has a member keepsAnswers',
  },
  {
    file: 'plugins/tenancy/resolve.ts',
    line: "if (operation === 'delete' && resolved.kind === 'one') refuseDeletionOfAll(resolved.tenant, map, policy);",
    broken: "resolved.kind === 'one'",
    replacement: 'true',
    reason: 'for the compiler: deletions by several tenants are refused before',
  },
  {
    file: 'core/engine/facts.ts',
    line: 'if (fact === undefined || hasCredentials(ownerOf(key)) || bytesOfProfile(fact) > largestFact) return;',
    broken: 'bytesOfProfile(fact) > largestFact',
    replacement: 'bytesOfProfile(fact) >= largestFact',
    reason: 'sizes are estimates, so one byte does not matter',
  },
  {
    file: 'core/engine/facts.ts',
    line: "add([text = '']: readonly string[], json: unknown): void {",
    broken: "''",
    replacement: '"Stryker was here!"',
    reason: 'for the compiler: an entry without a name is refused either way',
  },
  {
    file: 'core/engine/metric/count/time-segments.ts',
    line: 'startNs: startNs < range.startNs ? startNs : range.startNs,',
    broken: 'startNs < range.startNs',
    replacement: 'startNs <= range.startNs',
    reason: 'of two equal times either may be taken',
  },
  {
    file: 'core/engine/metric/count/time-segments.ts',
    line: 'if (startNs >= currentNs) return [{ startNs, endNs, isWhole: false }];',
    broken: 'startNs >= currentNs',
    replacement: 'startNs > currentNs',
    reason: 'an empty range before the current segment has no segments',
  },
  {
    file: 'core/engine/metric/count/time-segments.ts',
    line: 'const next = border < endNs ? border : endNs;',
    broken: 'border < endNs',
    replacement: 'border <= endNs',
    reason: 'of two equal times either may be taken',
  },
  {
    file: 'core/engine/plan/logs.ts',
    line: "return vagueness[this.#parsed] < vagueness['all-pair-keys'] ? 'keys' : 'pieces';",
    broken: "'pieces'",
    replacement: '""',
    reason: 'for the compiler: only keys are distinguished from the rest',
  },
  {
    file: 'core/engine/plan/logs.ts',
    line: 'if (this.#parsed === undefined || vagueness[read] > vagueness[this.#parsed]) this.#parsed = read;',
    broken: 'vagueness[read] > vagueness[this.#parsed]',
    replacement: 'vagueness[read] >= vagueness[this.#parsed]',
    reason: 'sources that are equally vague are the same',
  },
  {
    file: 'core/engine/plan/rules/metric.ts',
    line: "facts.names !== 'all' && facts.names.has(detectedLevelName) ? countOf(facts) : undefined,",
    broken: "facts.names !== 'all'",
    replacement: 'true',
    reason: 'for the compiler: where all labels are seen, metricIdentity applies before',
  },
  {
    file: 'core/engine/plan/rules/metric.ts',
    line: "facts.names !== 'all' && facts.names.has(detectedLevelName) ? countOf(facts) : undefined,",
    broken: "'all'",
    replacement: '""',
    reason: 'for the compiler: where all labels are seen, metricIdentity applies before',
  },
  {
    file: 'core/engine/plan/metric.ts',
    line: "const push = asked && { ...asked, looksAtLines: rule.verdict === 'superset' };",
    broken: "rule.verdict === 'superset'",
    replacement: 'true',
    reason: 'groups that decide everything read no lines either way, so only the expected cost changes',
  },
  {
    file: 'core/engine/plan/metric.ts',
    line: 'const stageNames = residual.flatMap(groupNames).filter((name) => !grouped.includes(name));',
    broken: 'residual.flatMap(groupNames).filter((name) => !grouped.includes(name))',
    replacement: 'residual.flatMap(groupNames)',
    reason: 'fewer groups are counted before rows are read instead, with the same answer',
  },
  {
    file: 'core/engine/plan/metric.ts',
    line: "const grouped = measure === 'presence' ? [] : pushed?.labels;",
    broken: '[]',
    replacement: '["Stryker was here"]',
    reason: 'a label that no row has makes no more groups',
  },
  {
    file: 'core/engine/plan/metric.ts',
    line: 'leaf.range.range.unwrap !== undefined && (parsed !== undefined || !residual.some(readsLine));',
    broken: 'leaf.range.range.unwrap !== undefined',
    replacement: 'true',
    reason:
      'the strategy refuses leaves without unwrap too; only the grouping of requests into one read changes',
  },
];
