import type { StoredNames } from '../../victoria/names/name-learner.js';

/** The known names under which rows are stored. */
export type KnownNames = Pick<
  StoredNames,
  'fields' | 'fieldsOf' | 'sureFieldsOf' | 'parsedFieldsOf' | 'unknownFromNs'
>;

/** Assumed if the backend has not been asked: every name is stored as it is written. */
export const namesAsWritten: KnownNames = {
  unknownFromNs: undefined,
  fields: undefined,
  fieldsOf: (name) => [name],
  sureFieldsOf: (name) => [name],
  parsedFieldsOf: (name) => [name],
};
