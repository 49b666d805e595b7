import type { Selector } from '../../wire/api/query.js';
import { apiError } from '../../base/errors/table.js';
import { printSelector, type Matcher } from '../../logql/index.js';
import { compileRegExp, RegExpSyntaxError } from '../../logql/regexp/index.js';
import { tenantLabel } from './tenant-names.js';

/** Matchers without those on the tenant label, and the test that the removed ones apply to a tenant. */
export interface TenantFilter {
  readonly matchers: readonly Matcher[];
  readonly accepts: (tenantId: string) => boolean;
}

/** Removes the matchers on `__tenant_id__`: they select tenants and never reach the backend. Undefined when there are none. */
export function takeTenantMatchers(matchers: readonly Matcher[]): TenantFilter | undefined {
  const tests = matchers.filter((matcher) => matcher.name === tenantLabel).map(testOf);
  if (tests.length === 0) return undefined;
  return {
    matchers: matchers.filter((matcher) => matcher.name !== tenantLabel),
    accepts: (tenantId) => tests.every((test) => test(tenantId)),
  };
}

/** A bare selector without its matchers on the tenant label; `selector` is undefined when no matchers remain. */
export interface SplitSelector {
  readonly selector: Selector | undefined;
  readonly accepts: (tenantId: string) => boolean;
}

/** Splits the selector of a listing; one without the tenant label is not even parsed. */
export function splitSelector(selector: Selector | undefined): SplitSelector {
  const everyone = { selector, accepts: () => true };
  // Label names have a single spelling, so a text without the name has no such matcher.
  if (selector?.text.includes(tenantLabel) !== true) return everyone;
  const filter = takeTenantMatchers(selector.matchers);
  if (filter === undefined) return everyone;
  const [first] = filter.matchers;
  const left =
    first === undefined ? undefined : selector.withMatchers(textOf(filter.matchers, first), filter.matchers);
  return { selector: left, accepts: filter.accepts };
}

function textOf(matchers: readonly Matcher[], { span }: Matcher): string {
  return printSelector({ kind: 'selector', matchers, span });
}

function testOf({ op, value }: Matcher): (tenantId: string) => boolean {
  switch (op) {
    case '=':
      return (tenantId) => tenantId === value;
    case '!=':
      return (tenantId) => tenantId !== value;
    case '=~':
    case '!~': {
      const pattern = compile(value);
      return (tenantId) => pattern.test(tenantId) === (op === '=~');
    }
  }
}

function compile(pattern: string): { test(text: string): boolean } {
  try {
    return compileRegExp(pattern, { anchored: true, dotAll: true });
  } catch (error) {
    if (!(error instanceof RegExpSyntaxError)) throw error;
    throw apiError('badTenantRegex', { cause: error.message }, { cause: error });
  }
}
