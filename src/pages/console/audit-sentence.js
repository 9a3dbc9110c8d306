import { words } from '../shared/format.js';

/**
 * Verb phrases for the actions in the audit log. `{target}` stands for what the action affected. Other names in braces
 * stand for fields of the request.
 *
 * @type {Record<string, string>}
 */
export const phrases = {
  retry_now: 'ended the wait of {target}',
  adopt: 'assigned an upstream job to {target}',
  resubmit: 'resubmitted {target}',
  fail: 'ended {target} as failed',
  cancel: 'cancelled {target}',
  complete: 'ended {target} as succeeded',
  extend: 'extended the deadline of {target}',
  accept_charge: 'accepted the charge of {target}',
  undo: 'undid the adoption of a job by {target}',
  redeliver: 'requested redelivery of the callback of {target}',
  refund: 'refunded {target}',
  refundImages: 'refunded {target}',
  getTaskRequest: 'opened the caller’s request for {target}',
  setChannel: 'switched the channel {target} {enabled}',
  setCircuit: 'set a circuit of the channel {target}, for the credential {credential}, to {state}',
  createAccount: 'created the account {target}',
  creditAccount: 'credited {target} with {amount}',
  setOverdraft: 'set the overdraft of {target}',
  setPriceFactors: 'set the price factors of {target}',
  setEndUserCaps: 'set the end users’ caps of {target}',
  setAccountAlert: 'set the alert of {target}',
  closeAccount: 'closed {target}',
  reopenAccount: 'reopened {target}',
  deleteAccount: 'requested the deletion of the account {target}',
  accountDeleted: 'requested the deletion of the account {target}, which is now complete',
  exportAccount: 'exported {target}',
  createKey: 'created a key for {target}',
  rotateKey: 'rotated the key {target}',
  revokeKey: 'revoked the key {target}',
  setKeyCaps: 'set the caps of the key {target}',
  rotateWebhookSecret: 'replaced the webhook secret of {target}',
  addOperator: 'added the operator {target}',
  setOperatorRoles: 'changed the roles of the operator {target}',
  revokeOperator: 'revoked the operator {target}',
  inviteOperator: 'invited the operator {target}',
  withdrawInvitation: 'withdrew the invitation of {target}',
  acceptOperatorInvitation: 'accepted an invitation',
  openSession: 'signed in',
  endSession: 'ended the session {target}',
  endSessions: 'ended the sessions of {operator}',
  reloadConfig: 'published the configuration file',
  editConfigDraft: 'edited the configuration draft',
  addCatalogueModel: 'added the model {model} to the configuration draft, on the channel {channel}',
  tryCredential: 'tested the credential {credential} of the channel {channel}',
  discardConfigDraft: 'discarded the configuration draft',
  publishConfigDraft: 'published the configuration draft',
  rollBackConfig: 'rolled the configuration back to version {version}',
  testNotices: 'sent a test notice',
  rotateSecrets: 'encrypted all stored secrets with the key {target}',
  acceptClock: 'accepted the database’s current time',
};

/**
 * Returns the texts before and after the target. The second text is undefined if the sentence does not mention the
 * target.
 *
 * @param {{ by: string, via: string, action: string, target: string, what: string }} entry
 * @returns {readonly [string, string | undefined]}
 */
export function sentenceOf({ by, via, action, target, what }) {
  if (via === 'start')
    return [`The start of a process (${processOf(target)}) published its configuration file`, undefined];
  if (via === 'signal')
    return [`A SIGHUP made a process (${processOf(target)}) publish its configuration file`, undefined];
  const [before = '', after] = (phrases[action] ?? `used “${words(action)}” on {target}`).split('{target}');
  const fields = fieldsOf(what);
  const filled = (/** @type {string} */ text) =>
    text.replaceAll(/\{(\w+)\}/g, (_, /** @type {string} */ name) => wordOf(fields[name]));
  return [`${by} ${filled(before)}`, after === undefined ? undefined : filled(after)];
}

/** @param {unknown} value */
function wordOf(value) {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '(not recorded)';
}

/**
 * Long requests are truncated and therefore cannot be parsed.
 * @param {string} what @returns {Record<string, unknown>}
 */
function fieldsOf(what) {
  try {
    return JSON.parse(what);
  } catch {
    return {};
  }
}

/** @param {string} node `<host>/<pid>/<run>` */
function processOf(node) {
  const [host, pid] = node.split('/');
  return pid === undefined ? node : `${host}, pid ${pid}`;
}
