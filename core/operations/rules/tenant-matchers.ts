import { apiError } from '../../base/errors/table.js';
import type { Matcher } from '../../logql/index.js';
import { compileRegExp, RegExpSyntaxError } from '../../logql/regexp/index.js';
import { tenantLabel } from './tenant-names.js';

/** Matchers without those on the tenant label, and the test that the removed ones apply to a tenant. */
export interface TenantFilter {
  readonly matchers: readonly Matcher[];
  readonly accepts: (tenantId: string) => boolean;
}

/** Removes the matchers on `__tenant_id__`, which select tenants. Undefined when there are none. */
export function takeTenantMatchers(matchers: readonly Matcher[]): TenantFilter | undefined {
  const tests = matchers.filter((matcher) => matcher.name === tenantLabel).map(testOf);
  if (tests.length === 0) return undefined;
  return {
    matchers: matchers.filter((matcher) => matcher.name !== tenantLabel),
    accepts: (tenantId) => tests.every((test) => test(tenantId)),
  };
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
