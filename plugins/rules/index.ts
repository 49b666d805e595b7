/** Endpoint plugin `rules`: read-only views of rules and alerts that another service evaluates. */
import { finishedAnswer, jsonAnswer, textAnswer } from '../../core/wire/answer/encode.js';
import type { RulesOptions } from '../../core/base/options.gen.js';
import {
  type Answer,
  apiError,
  askTenant,
  defineEndpoint,
  type HttpCall,
  type RouteHandler,
  type Tenant,
} from '../../core/plugin/index.js';
import { readGroups, type RulerRule, type RuleGroup } from './groups.js';
import { RulesBackend, type RulesCall } from './rules-backend.js';
import { stringify } from 'yaml';
import { addTo } from '../../core/base/order.js';
import { printPrometheusDuration } from '../../core/base/time/index.js';

const yamlType = 'application/yaml';
const jsonType = 'application/json';

export default defineEndpoint<RulesOptions>({
  name: 'rules',
  summary: 'Read-only API for rules and alerts: JSON from the rules backend, YAML in Loki’s format.',
  create(options) {
    const { rulerBackend, alertsBackend = rulerBackend } = options;
    const backend = new RulesBackend(options.timeout, options.hidesAddresses);

    /** A route that passes the answer of a service on. */
    const passed =
      (service: RulesCall['service'], base: string | undefined): RouteHandler =>
      async (call) => {
        const tenant = await askTenant(call);
        if (base === undefined || tenant.hasNoData) return jsonAnswer(emptyOf(service), jsonType);
        const { bytes } = await backend.fetchJson({ service, base, ...passedOn(call, tenant) });
        return finishedAnswer(200, bytes, jsonType);
      };

    async function groupsOf(
      call: HttpCall,
      tenant: Tenant,
      base: string,
      chosen: readonly (readonly [string, string])[],
    ): Promise<readonly RuleGroup[]> {
      if (tenant.hasNoData) return [];
      const { params, ...others } = passedOn(call, tenant);
      const names = new Set(chosen.map(([name]) => name));
      const { document } = await backend.fetchJson({
        ...{ service: 'rules', base, ...others },
        // Parameters cannot override the selection by path.
        params: [...chosen, ...params.filter(([name]) => !names.has(name))],
      });
      const groups = readGroups(document);
      if (groups === undefined)
        throw apiError('rulesBackendFailed', { service: 'rules', cause: 'its answer has no rule groups' });
      return groups;
    }

    return {
      routes: new Map<string, RouteHandler>([
        [
          'rules',
          async (call) => {
            const tenant = await askTenant(call);
            if (rulerBackend === undefined) return textAnswer(200, '{}\n', yamlType);
            return namespacesAnswer(await groupsOf(call, tenant, rulerBackend, []));
          },
        ],
        [
          'rules_namespace',
          async (call) => {
            const { namespace } = readRulesPath(call.pathParams);
            const tenant = await askTenant(call);
            if (rulerBackend === undefined) throw apiError('notFound', {});
            const groups = await groupsOf(call, tenant, rulerBackend, [['file[]', namespace]]);
            return namespacesAnswer(groups.filter((group) => group.namespace === namespace));
          },
        ],
        [
          'rules_group',
          async (call) => {
            const { namespace, group } = readRulesPath(call.pathParams);
            const tenant = await askTenant(call);
            // Grafana requests test/test to find out whether rules can be written; only this text tells it that they cannot.
            if (rulerBackend === undefined || (namespace === 'test' && group === 'test'))
              throw apiError('notFound', {});
            const groups = await groupsOf(call, tenant, rulerBackend, [
              ['file[]', namespace],
              ['rule_group[]', group],
            ]);
            const found = groups.find((each) => each.namespace === namespace && each.name === group);
            if (found === undefined) throw apiError('noSuchRuleGroup', {});
            return textAnswer(200, printYaml(groupNode(found)), yamlType);
          },
        ],
        ['pm_rules', passed('rules', rulerBackend)],
        ['alerts', passed('alerts', alertsBackend)],
        ['pm_alerts', passed('alerts', alertsBackend)],
      ]),
      stop: () => backend.close(),
    };
  },
});

/**
 * The parts of a client's call that are forwarded: parameters and the tenant, never credentials
 * (docs/protocol/requests.md#rules-and-alerts).
 */
function passedOn(
  { params, caller, signal }: HttpCall,
  tenant: Tenant,
): Pick<RulesCall, 'params' | 'headers' | 'signal'> {
  return {
    params: [...params].flatMap(([name, values]) => values.map((value) => [name, value] as const)),
    headers: {
      ...(caller.orgId === undefined ? {} : { 'x-scope-orgid': caller.orgId }),
      // With label-based tenancy all tenants share one account, so it does not identify the owner of the rules.
      ...(tenant.streamField === undefined
        ? { accountid: String(tenant.accountId), projectid: String(tenant.projectId) }
        : {}),
    },
    signal,
  };
}

function namespacesAnswer(groups: readonly RuleGroup[]): Answer {
  if (groups.length === 0) throw apiError('noRuleGroups', {});
  return textAnswer(200, printNamespaces(groups), yamlType);
}

/** Loki's answer without rules. */
function emptyOf(service: RulesCall['service']): object {
  const list = service === 'rules' ? 'groups' : service;
  return { status: 'success', data: { [list]: [] }, errorType: '', error: '' };
}

// Names of files and groups contain no control characters.
const control = /\p{Cc}/u;

/**
 * Parses the names in a path; both may contain slashes, which clients send encoded. The group is empty on routes without one. Throws ApiError
 * for an invalid name.
 */
function readRulesPath(pathParams: HttpCall['pathParams']): {
  readonly namespace: string;
  readonly group: string;
} {
  const namespace = pathParams.get('namespace') ?? '';
  const group = pathParams.get('group') ?? '';
  if (namespace.trim() === '' || control.test(namespace) || control.test(group)) {
    throw apiError('badRulesPath', {});
  }
  // A rules backend may open a file of this name.
  if (namespace.split(/[/\\]/).includes('..')) throw apiError('rulesPathTraversal', {});
  return { namespace, group };
}

/** Prints groups by namespace in the format of Loki's ruler (docs/protocol/requests.md#rules-and-alerts). */
function printNamespaces(groups: readonly RuleGroup[]): string {
  const namespaces = new Map<string, Map<string, unknown>[]>();
  for (const group of groups) addTo(namespaces, group.namespace, groupNode(group));
  return printYaml(new Map([...namespaces].sort(([a], [b]) => (a < b ? -1 : 1))));
}

function printYaml(node: unknown): string {
  // No line folding, so expressions stay unchanged. YAML 1.1 parsers read `yes` and the like as booleans.
  return stringify(node, { indent: 4, lineWidth: 0, compat: 'yaml-1.1' });
}

/** One group in the format of Loki's ruler. */
function groupNode({ name, intervalSeconds, rules }: RuleGroup): Map<string, unknown> {
  return new Map<string, unknown>([
    ['name', name],
    ...(intervalSeconds > 0 ? [['interval', duration(intervalSeconds)] as const] : []),
    ['rules', rules.map(ruleNode)],
  ]);
}

function ruleNode(rule: RulerRule): Map<string, unknown> {
  return new Map<string, unknown>([
    [rule.kind, rule.name],
    ['expr', rule.expr],
    ...(rule.forSeconds > 0 ? [['for', duration(rule.forSeconds)] as const] : []),
    ...(rule.keepFiringForSeconds > 0
      ? [['keep_firing_for', duration(rule.keepFiringForSeconds)] as const]
      : []),
    ...(rule.labels.size > 0 ? [['labels', rule.labels] as const] : []),
    ...(rule.annotations.size > 0 ? [['annotations', rule.annotations] as const] : []),
  ]);
}

function duration(seconds: number): string {
  return printPrometheusDuration(BigInt(Math.round(seconds * 1000)) * 1_000_000n);
}
