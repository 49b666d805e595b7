import { ApiError } from '../../base/errors/api-error.js';
import type { PlanSettings } from '../../engine/plan/checked-request.js';
import { LogqlError } from '../../logql/index.js';
import type { LogsqlQuery } from '../../victoria/logsql/ast.js';
import { and, matcher, streamMatch } from '../../victoria/logsql/build.js';
import { InexpressibleNameError } from '../../victoria/logsql/literals.js';
import type { Naming } from '../../victoria/names/naming.js';
import { Query } from '../../wire/api/request.js';
import { convertExpr } from './convert-expr.js';
import { NotConvertible } from './not-convertible.js';
import type { LokiRule, LokiRuleFile, LokiRuleGroup } from './rule-files.js';
import type { StoredLabels } from './stored-labels.js';
import type { TenantAccess } from './tenant-jobs.js';

/** A rule and its fate: a LogsQL query, or the reason why it stays LogQL. */
export interface ConvertedRule {
  readonly rule: LokiRule;
  readonly logsql: LogsqlQuery | undefined;
  readonly reason: string | undefined;
  /** True if Loki would reject the expression. */
  readonly isInvalid: boolean;
}

interface ConvertedGroup {
  readonly group: LokiRuleGroup;
  readonly rules: readonly ConvertedRule[];
}

export interface ConvertedFile {
  readonly file: LokiRuleFile;
  readonly tenant: TenantAccess['tenant'];
  readonly groups: readonly ConvertedGroup[];
}

export interface ConversionContext {
  readonly tenant: TenantAccess['tenant'];
  readonly naming: Naming;
  readonly labels: StoredLabels;
  readonly settings: PlanSettings;
}

export function convertFile(file: LokiRuleFile, context: ConversionContext): ConvertedFile {
  const groups = file.groups.map((group) => ({
    group,
    rules: group.rules.map((rule) => convertRule(rule, context)),
  }));
  return { file, tenant: context.tenant, groups };
}

function convertRule(rule: LokiRule, { tenant, naming, labels, settings }: ConversionContext): ConvertedRule {
  const kept = (reason: string, isInvalid = false): ConvertedRule => ({
    rule,
    logsql: undefined,
    reason,
    isInvalid,
  });
  if (tenant.hasNoData === true)
    return kept('the tenant is in no tenant map, so it has no account in VictoriaLogs');
  try {
    const query = convertExpr(new Query(rule.expr, naming.dottedNames), naming, labels, settings);
    const { streamField, id } = tenant;
    const own = streamField === undefined ? [] : [streamMatch(matcher(streamField, '=', id))];
    const logsql = { ...query, filter: and(query.filter, ...own) };
    return { rule, logsql, reason: undefined, isInvalid: false };
  } catch (error) {
    if (error instanceof NotConvertible || error instanceof InexpressibleNameError)
      return kept(error.message);
    if (error instanceof LogqlError || error instanceof ApiError) return kept(error.message, true);
    throw error;
  }
}
