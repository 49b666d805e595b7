import { apiError } from '../../core/base/errors/table.js';

/** The decoded namespace and group of a rules path; the group is empty on routes without one. */
export interface RulesPath {
  readonly namespace: string;
  readonly group: string;
}

// Names of files and groups have no control characters.
const control = /\p{Cc}/u;

/** Parses the names in a path; both may contain slashes, which clients send encoded. Throws ApiError for an invalid name. */
export function readRulesPath(pathParams: ReadonlyMap<string, string>): RulesPath {
  const namespace = pathParams.get('namespace') ?? '';
  const group = pathParams.get('group') ?? '';
  if (namespace.trim() === '' || control.test(namespace) || control.test(group)) {
    throw apiError('badRulesPath', {});
  }
  // A rules backend may open the name as a file.
  if (namespace.split(/[/\\]/).includes('..')) throw apiError('rulesPathTraversal', {});
  return { namespace, group };
}
