import type { LintRule, OwnRoute } from '../plugin/contract.js';
import { OwnRoutes } from '../own-routes.js';

/** The declarations of a plugin. They are untrusted data: nothing is known about their values. */
type Parts = ReadonlyMap<string, unknown>;

const metricTypes: ReadonlySet<unknown> = new Set(['counter', 'gauge', 'histogram']);
const listeners: ReadonlySet<unknown> = new Set(['main', 'admin']);
const knownMethods: ReadonlySet<unknown> = new Set(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);
const metricName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * The problem with the metrics, routes and rules that a plugin declares, found before any of its code runs; undefined if they are usable.
 */
export function declarationFault(plugin: Parts): string | undefined {
  return metricsFault(plugin.get('metrics')) ?? routesFault(plugin) ?? lintFault(plugin.get('lint'));
}

function metricsFault(metrics: unknown): string | undefined {
  if (metrics === undefined) return undefined;
  if (!isMapping(metrics)) return 'its metrics are not a mapping of names to declarations';
  for (const [name, spec] of Object.entries(metrics)) {
    if (!metricName.test(name))
      return `the metric name "${name}" is invalid: use letters, digits and underscores, and do not start with a digit`;
    if (!isMapping(spec)) return `the declaration of the metric "${name}" is not a mapping`;
    const { type, help, labels = [], buckets } = Object.fromEntries(Object.entries(spec));
    if (!metricTypes.has(type))
      return `the metric "${name}" has the type ${JSON.stringify(type)}, which is not counter, gauge or histogram`;
    if (typeof help !== 'string' || help === '') return `the metric "${name}" has no help`;
    if (!Array.isArray(labels)) return `the labels of the metric "${name}" are not a list`;
    const bad: unknown = labels.find(
      (label) => typeof label !== 'string' || !metricName.test(label) || label === 'le',
    );
    if (bad !== undefined) return `the metric "${name}" cannot have a label ${JSON.stringify(bad)}`;
    if (new Set(labels).size < labels.length) return `the metric "${name}" has a label twice`;
    if (buckets !== undefined && !areBuckets(buckets))
      return `the buckets of the metric "${name}" are not a list of increasing numbers`;
  }
  return undefined;
}

function areBuckets(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (bound: unknown, at) => Number.isFinite(bound) && (at === 0 || Number(value[at - 1]) < Number(bound)),
    )
  );
}

function routesFault(plugin: Parts): string | undefined {
  const routes = plugin.get('ownRoutes');
  if (routes === undefined) return undefined;
  if (!Array.isArray(routes) || !routes.every(isRoute))
    return 'its ownRoutes are not a list of routes, each with an id and a path';
  for (const { id, listener = 'main', methods = [] } of routes) {
    if (!listeners.has(listener))
      return `the route "${id}" has the listener ${JSON.stringify(listener)}, which is not main or admin`;
    if (!Array.isArray(methods)) return `the methods of the route "${id}" are not a list`;
    const odd: unknown = methods.find((method) => !knownMethods.has(method));
    if (odd !== undefined) return `the route "${id}" cannot have the method ${JSON.stringify(odd)}`;
  }
  if (plugin.get('servesAdmin') !== true) {
    const admin = routes.find(({ listener }) => listener === 'admin');
    if (admin !== undefined)
      return `the route "${admin.id}" is on the admin listener: declare servesAdmin: true`;
  }
  try {
    new OwnRoutes().add(routes);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function lintFault(lint: unknown): string | undefined {
  if (lint === undefined) return undefined;
  if (!Array.isArray(lint) || !lint.every(isRule))
    return 'its lint is not a list of rules, each with an id, a title, a severity, docs and a check';
  const twice = lint.find(({ id }, at) => lint.slice(0, at).some((other) => other.id === id));
  return twice === undefined ? undefined : `it has two rules with the id "${twice.id}"`;
}

function isRule(value: unknown): value is LintRule {
  if (!isMapping(value)) return false;
  const { id, title, severity, docs, check } = Object.fromEntries(Object.entries(value));
  const hasTexts = [id, title, docs].every((text) => typeof text === 'string' && text !== '');
  return hasTexts && (severity === 'error' || severity === 'warning') && typeof check === 'function';
}

function isRoute(value: unknown): value is OwnRoute {
  return (
    isMapping(value) &&
    'id' in value &&
    typeof value.id === 'string' &&
    'path' in value &&
    typeof value.path === 'string'
  );
}

function isMapping(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
