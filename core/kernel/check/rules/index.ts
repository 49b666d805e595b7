import { adminToken } from './admin-token.js';
import { badValue } from './bad-value.js';
import { behindCache } from './behind-cache.js';
import { behindTerminal } from './behind-terminal.js';
import { brokenPlugin } from './broken-plugin.js';
import { clashingDeclarations } from './clashing-declarations.js';
import { clientCertificates } from './client-certificates.js';
import { coldBackend } from './cold-backend.js';
import { defaultTenant } from './default-tenant.js';
import { deprecatedOption } from './deprecated-option.js';
import { dottedNames } from './dotted-names.js';
import { duplicateId } from './duplicate-id.js';
import { duplicateKey } from './duplicate-key.js';
import { emptyList } from './empty-list.js';
import { envReference } from './env-reference.js';
import { frame } from './frame.js';
import { freePorts } from './free-ports.js';
import { include } from './include.js';
import { lastStage } from './last-stage.js';
import { metricsListener } from './metrics-listener.js';
import { missingOption } from './missing-option.js';
import { misspeltLimit } from './misspelt-limit.js';
import { numericTenants } from './numeric-tenants.js';
import { oneDocument } from './one-document.js';
import { peerToken } from './peer-token.js';
import { peersOrStore } from './peers-or-store.js';
import { reachableBackend } from './reachable-backend.js';
import { readablePaths } from './readable-paths.js';
import { shadowedOption } from './shadowed-option.js';
import { sharedOptions } from './shared-options.js';
import { sharedPort } from './shared-port.js';
import { singlePlugins } from './single-plugins.js';
import { slotMissing } from './slot-missing.js';
import { slotOrder } from './slot-order.js';
import { slotTwice } from './slot-twice.js';
import { tenantIds } from './tenant-ids.js';
import { tlsPair } from './tls-pair.js';
import { unreadOption } from './unread-option.js';
import { unusedSource } from './unused-source.js';
import { unknownVariable } from './unknown-variable.js';
import { unknownOption } from './unknown-option.js';
import { unknownPlugin } from './unknown-plugin.js';
import { upsideDown } from './upside-down.js';
import { writablePaths } from './writable-paths.js';
import { wrongList } from './wrong-list.js';
import { yamlFeature } from './yaml-feature.js';
import { yamlSyntax } from './yaml-syntax.js';
import type { Rule } from '../rule.js';

/** All rules, in the order of their ids: structure, meaning, environment. */
export const rules: readonly Rule[] = [
  yamlSyntax,
  oneDocument,
  duplicateKey,
  yamlFeature,
  envReference,
  frame,
  unknownOption,
  badValue,
  missingOption,
  include,
  unknownPlugin,
  brokenPlugin,
  wrongList,
  duplicateId,
  slotOrder,
  slotMissing,
  slotTwice,
  lastStage,
  behindTerminal,
  emptyList,
  behindCache,
  clashingDeclarations,
  unknownVariable,
  dottedNames,
  metricsListener,
  clientCertificates,
  tlsPair,
  peerToken,
  adminToken,
  upsideDown,
  tenantIds,
  sharedPort,
  coldBackend,
  sharedOptions,
  misspeltLimit,
  numericTenants,
  singlePlugins,
  unreadOption,
  deprecatedOption,
  shadowedOption,
  unusedSource,
  peersOrStore,
  defaultTenant,
  readablePaths,
  writablePaths,
  reachableBackend,
  freePorts,
];
